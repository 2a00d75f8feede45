for (const button of document.querySelectorAll("button[data-of]")) {
  button.addEventListener("click", () => {
    const text = document.getElementById(button.dataset.of).textContent;
    const link = document.createElement("a");
    link.download = button.dataset.name;
    link["href"] = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.click();
    URL.revokeObjectURL(link["href"]);
  });
}
