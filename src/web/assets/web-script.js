/**
 * Improves pages that work without it: the key behind an address, `/` for the search box, results while one types, the menu of
 * the point in time, parts that are loaded when they are opened, and parts that change while a sync runs.
 */
const waitMillis = 120;
const maxShown = 12;

openSession();
followChanges(document.querySelector("[data-live]")?.dataset.live);
for (const input of document.querySelectorAll("input[data-results]")) searchWhileTyping(input);

for (const details of document.querySelectorAll("details[data-part]"))
  details.addEventListener("toggle", () => loadPart(details), { once: true });

document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const box = document.querySelector("input[data-slash]");
  if (box === null) return;
  event.preventDefault();
  box.focus();
  box.select();
});

const menu = document.querySelector("details.point");
document.addEventListener("click", ({ target }) => {
  if (menu?.open && target instanceof Node && !menu.contains(target)) menu.open = false;
});
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || !menu?.open) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

/** The key of an address such as `/#key=…` is exchanged for a cookie, and leaves the address. */
async function openSession() {
  const [, key] = location.hash.match(/^#key=(.+)$/) ?? [];
  if (key === undefined) return;
  const here = location.pathname + location.search;
  history.replaceState(null, "", here);
  // The form that takes the key knows where it leads.
  const next = document.querySelector("form[action='/session'] input[name=next]")?.value ?? here;
  const body = new URLSearchParams({ key: decodeURIComponent(key), next });
  const { ok, status } = await fetch("/session", { method: "POST", body });
  // The form says why.
  location.replace(ok ? next : `/session?${new URLSearchParams({ next, refused: status })}`);
}

/** Loads the live parts of this page again when the server says that they have changed, while the page is visible. */
function followChanges(topic) {
  if (topic === undefined) return;
  let source = null;
  let isLoading = false;
  const refresh = async () => {
    if (isLoading) return;
    isLoading = true;
    // A part that cannot be loaded stays as it is until the next event.
    await replaceLiveParts().catch(() => {});
    isLoading = false;
  };
  const follow = () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (source === null) {
      source = new EventSource(`/events/${topic}`);
      source.addEventListener("changed", refresh);
    }
  };
  document.addEventListener("visibilitychange", () => {
    follow();
    if (!document.hidden) refresh();
  });
  follow();
}

async function replaceLiveParts() {
  const response = await fetch(location.href);
  const loaded = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const next = loaded.getElementById(part.id);
    // A part that has the focus stays.
    if (next === null || next.innerHTML === part.innerHTML || part.contains(document.activeElement)) continue;
    const open = [...part.querySelectorAll("details")].map((details) => details.open);
    for (const [n, details] of next.querySelectorAll("details").entries())
      details.open = open[n] ?? details.open;
    part.replaceChildren(...next.childNodes);
  }
}

/** Puts a part of the page that a link leads to in the place of the link. Where that fails, the link stays. */
async function loadPart(details) {
  const link = details.querySelector("a");
  const response = await fetch(link.href).catch(() => null);
  if (!response?.ok) return;
  const loaded = new DOMParser().parseFromString(await response.text(), "text/html");
  const part = loaded.getElementById(details.dataset.part);
  if (part === null) return;
  link.parentElement.replaceWith(part);
}

function searchWhileTyping(input) {
  const results = document.getElementById(input.dataset.results);
  let timer;
  let request = new AbortController();
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      request.abort();
      request = new AbortController();
      const text = input.value.trim();
      if (text === "") return results.replaceChildren();
      try {
        const found = await fetchResults(input.form, request.signal);
        results.replaceChildren(...render(found, text));
      } catch (error) {
        if (error.name !== "AbortError") results.replaceChildren();
      }
    }, waitMillis);
  });
}

async function fetchResults(form, signal) {
  const response = await fetch(`/search.json?${new URLSearchParams(new FormData(form))}`, { signal });
  return response.ok ? await response.json() : [];
}

function render(found, text) {
  if (found.length === 0) return [element("p", "count", `Nothing has all of the words “${text}”.`)];
  const list = element("ol", "results");
  for (const one of found.slice(0, maxShown)) {
    const row = element(one.path === null ? "div" : "a", "result");
    if (one.path !== null) row.href = one.path;
    row.append(
      isolated("name", one.name ?? "unnamed"),
      isolated("about", one.kind === "model" ? (one.brand ?? "") : "Brand"),
    );
    if (one.state !== "held")
      row.append(element("span", "tag", one.state === "gone" ? "gone" : "not fetched yet"));
    row.append(element("span", "number", one.bra_count === null ? "" : `${one.bra_count} owned`));
    const item = document.createElement("li");
    item.append(row);
    list.append(item);
  }
  const isCut = found.length > maxShown;
  return isCut ? [list, element("p", "count", "Press Enter for more.")] : [list];
}

/** A text whose direction of writing stays within itself. */
function isolated(className, text) {
  const outer = element("span", className);
  outer.append(element("bdi", "", String(text)));
  return outer;
}

function element(tag, className, text = "") {
  const made = document.createElement(tag);
  if (className !== "") made.className = className;
  made.textContent = text;
  return made;
}
