// What pages do a little better with JavaScript; all of them work without it.
(() => {
  const announce = (text) => {
    document.getElementById("announcements").textContent = text;
  };

  // A form that is on its way is not sent again by a second click.
  const sent = new Set();
  document.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (event.defaultPrevented || !button || event.target.method === "dialog") return;
    if (sent.has(button)) {
      event.preventDefault();
      return;
    }
    sent.add(button);
    button.setAttribute("aria-busy", "true");
  });
  const rest = () => {
    sent.forEach((button) => button.removeAttribute("aria-busy"));
    sent.clear();
  };
  // Back and forward may show the page as it was left.
  window.addEventListener("pageshow", rest);
  document.addEventListener("htmx:finally:request", rest);

  // Menus of the header close on Escape and on a click elsewhere.
  const closeMenus = (except) => {
    document.querySelectorAll(".dropdown[open]").forEach((menu) => {
      if (!menu.contains(except)) menu.open = false;
    });
  };
  document.addEventListener("click", (event) => closeMenus(event.target));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const open = document.querySelector(".dropdown[open]");
    closeMenus(null);
    open?.querySelector("summary").focus();
  });

  // The clock of a quote counts down to the end of its price; then the page says so.
  document.querySelectorAll("[data-clock]").forEach((clock) => {
    const end = performance.now() + clock.dataset.clock * 1000;
    const shown = clock.querySelector("b");
    const tick = () => {
      const left = Math.max(0, Math.ceil((end - performance.now()) / 1000));
      shown.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
      if (left) setTimeout(tick, 1000);
      // A second later the server, too, says that it has expired.
      else setTimeout(() => location.replace(location.href), 1000);
    };
    clock.hidden = false;
    tick();
  });

  // The commits that a request is pinned to one of are those of the model chosen.
  document.addEventListener("change", (event) => {
    const repository = event.target.selectedOptions?.[0].dataset.repository;
    const commits = document.getElementById("commits");
    if (!commits || event.target.name !== "base_model") return;
    commits.hidden = !repository;
    commits.href = `https://huggingface.co/${repository}/commits/main`;
    commits.querySelector("span").textContent = repository;
  });

  const showCopyButtons = (root) => {
    if (!navigator.clipboard) return;
    root.querySelectorAll("[data-copy]").forEach((button) => {
      button.hidden = false;
    });
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy);
    // A second click within two seconds finds "Copied" on the button.
    button.dataset.label ??= button.textContent;
    button.textContent = button.dataset.copied;
    announce(button.dataset.copied);
    setTimeout(() => {
      button.textContent = button.dataset.label;
    }, 2000);
  });

  // A swapped-in fragment gets its copy buttons, and its errors get the focus.
  document.addEventListener("htmx:after:swap", () => {
    showCopyButtons(document);
    document.getElementById("errors")?.focus();
  });
  showCopyButtons(document);
})();
