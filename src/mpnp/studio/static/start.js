// The start page: examples, graphs of the folder, and files that are dropped or chosen.

import { $, count, h, replace, say } from "./dom.js";
import { themes } from "./theme.js";

themes(null);

async function asked(address, options) {
  const answer = await fetch(address, options);
  const content = await answer.json().catch(() => ({ error: "The studio did not understand; reload the page." }));
  if (!answer.ok) throw new Error(content.error ?? "That did not work.");
  return content;
}

// Show that something takes time, go where it leads, or say what is wrong.
async function leading(text, work) {
  $("busy-text").textContent = text;
  $("busy").hidden = false;
  try {
    location.assign((await work()).address);
  } catch (error) {
    $("busy").hidden = true;
    say(error.message, { shown: true });
  }
}

const open = (name, title) => leading(`Opening ${title} …`, () => asked(`/open/${encodeURIComponent(name)}`, { method: "POST" }));

function card({ name, title, about, labels }, kind) {
  return h("li", {}, h("button", { class: `card ${kind}`, "data-name": name, onclick: () => open(name, title) },
    h("b", {}, title), h("span", {}, about), labels > 0 && h("small", {}, `continue with ${count(labels, "label")}`)));
}

async function upload(files) {
  if (!files.length) return;
  await leading(`Reading ${count(files.length, "file")} …`, async () => {
    const batch = crypto.randomUUID();
    const { largest } = await asked("/graphs");
    const size = files.reduce((sum, file) => sum + file.size, 0);
    if (size > largest) throw new Error(`The files have ${Math.ceil(size / 2 ** 20)} MiB, up to ${largest / 2 ** 20} can be brought here; start 'mpnp studio PATH' with them.`);
    for (const file of files) await asked(`/upload/${batch}/${encodeURIComponent(file.name)}`, { method: "PUT", body: file });
    return asked(`/upload/${batch}`, { method: "POST" });
  });
}

$("files").addEventListener("change", (event) => upload([...event.target.files]));
for (const kind of ["dragenter", "dragover"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    $("drop").classList.add("over");
  });
}
document.addEventListener("dragleave", (event) => event.relatedTarget ?? $("drop").classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  upload([...event.dataTransfer.files]);
});

const { examples, graphs, folder } = await asked("/graphs");
replace($("examples"), ...examples.map((one) => card(one, "example")));
replace($("graphs"), ...graphs.map((one) => card({ ...one, about: `in ${folder}` }, "own")));
