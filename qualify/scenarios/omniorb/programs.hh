// The programs of main.cpp. Each gets the arguments behind its name, and returns the exit code.
#pragma once

int folder(int argc, char** argv);
int server(int argc, char** argv);
int client(int argc, char** argv);
