# Runs the commands of both terminals, for `punctual trace`.
set -e
output=$(mktemp)
cargo run -q -p distributable-threads --bin tracker-server > "$output" &
server=$!
trap 'kill $server; rm "$output"' EXIT
until grep -q Tracking "$output"; do
    kill -0 $server
    sleep 0.1
done
cargo run -q -p distributable-threads --bin radar-client
