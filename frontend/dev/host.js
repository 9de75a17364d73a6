// Stands in for TensorBoard's side of the message channel, as far as the tab uses it.
const frame = document.querySelector("iframe");
let port = null;
let nextId = 0;

const answers = {
  "experimental.GetRuns": () => [],
  "experimental.GetURLPluginData": () => {
    const data = {};
    for (const pair of location.hash.slice(1).split("&")) {
      const [key, value] = pair.split("=").map(decodeURIComponent);
      if (key.startsWith("p.stepperf.")) data[key.slice(11)] = value;
    }
    return data;
  },
};

addEventListener("message", (event) => {
  if (event.data !== "experimental.bootstrap" || event.source !== frame.contentWindow) return;
  port = event.ports[0];
  port.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.isReply) return;
    const payload = answers[message.type]?.() ?? null;
    port.postMessage(JSON.stringify({ type: message.type, id: message.id, payload, error: null, isReply: true }));
  };
});

const tell = (type, payload) =>
  port?.postMessage(JSON.stringify({ type, id: nextId++, payload, error: null, isReply: false }));
document.getElementById("dark").onclick = () => document.body.classList.toggle("dark-mode");
document.getElementById("reload").onclick = () => tell("experimental.DataReloaded");
