"use strict";
// Runs in a page that holds the report in frames of several widths; says what is laid out badly.
const bad = [];
const inner = (element) => element.closest(".scroll, .any");
const overlap = (a, b) =>
  Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
  Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2.5;
let frames = 0;
let texts = 0;

function page(frame) {
  const document = frame.contentDocument;
  const name = frame.width + "px";
  const root = document.documentElement;
  frames += 1;
  if (root.clientWidth !== Number(frame.width)) bad.push(`${name}: is ${root.clientWidth}`);
  if (root.scrollWidth > root.clientWidth) bad.push(`${name}: scrolls to ${root.scrollWidth}`);
  for (const part of document.querySelectorAll("details")) part.open = true;
  for (const element of document.body.querySelectorAll("*")) {
    if (element.ownerSVGElement || !element.getClientRects().length || inner(element)) continue;
    const box = element.getBoundingClientRect();
    if (box.right > root.clientWidth + 1 || box.left < -1) {
      bad.push(`${name}: <${element.tagName} class="${element.className}"> leaves the page`);
    }
  }
  for (const svg of document.querySelectorAll("figure svg")) {
    if (svg.getClientRects().length) picture(name, svg);
  }
}

function picture(name, svg) {
  const title = svg.closest("figure").querySelector("h3").textContent;
  const where = `${name}, ${title}`;
  const box = svg.getBoundingClientRect();
  const scale = box.width / svg.viewBox.baseVal.width;
  const labels = [...svg.querySelectorAll("text")].map((text) => {
    texts += 1;
    const size = Number(text.getAttribute("font-size")) * scale;
    if (size < 8) bad.push(`${where}: "${text.textContent}" is ${size} pixels high`);
    const bounds = text.getBoundingClientRect();
    const inside = bounds.left >= box.left - 1 && bounds.right <= box.right + 1 &&
      bounds.top >= box.top - 2 && bounds.bottom <= box.bottom + 2;
    if (!inside) bad.push(`${where}: "${text.textContent}" leaves the picture`);
    return { text: text.textContent, bounds };
  });
  labels.forEach((a, n) => {
    for (const b of labels.slice(n + 1)) {
      if (overlap(a.bounds, b.bounds)) bad.push(`${where}: "${a.text}" over "${b.text}"`);
    }
  });
}

addEventListener("load", () => {
  try {
    for (const frame of document.querySelectorAll("iframe")) page(frame);
  } catch (error) {
    bad.push(String(error));
  }
  const first = document.querySelector("iframe").contentDocument;
  const ground = getComputedStyle.call(first.defaultView, first.body).backgroundColor;
  const result = document.createElement("pre");
  result.id = "result";
  result.textContent = JSON.stringify({ frames, texts, ground, bad });
  document.body.replaceChildren(result);
});
