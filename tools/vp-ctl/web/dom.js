/* SPDX-License-Identifier: BSD-2-Clause */
/* dom.js - elements, and numbers as people read them.  Whatever a graph says is text, never markup. */

const SVG = "http://www.w3.org/2000/svg";

export const at = (id) => document.getElementById(id);

function made(element, attributes, children) {
	for (const [key, value] of Object.entries(attributes))
		if (value !== null && value !== false)
			element.setAttribute(key, value === true ? "" : value);
	element.append(...children.filter((child) => child !== null));
	return element;
}

/* Children are elements, or strings, which are text. */
export const el = (name, attributes = {}, ...children) => made(document.createElement(name), attributes, children);
export const svg = (name, attributes = {}, ...children) => made(document.createElementNS(SVG, name), attributes, children);

/* Only when it is another one: who reads by ear is not told of what stays. */
export function say(element, text) {
	if (element.textContent !== text)
		element.textContent = text;
}

const UNITS = ["", " k", " M", " G"];

/* "393 k", three places. */
export function short(x) {
	let unit = 0;

	for (; Math.abs(x) >= 999.5 && unit + 1 < UNITS.length; unit++)
		x /= 1000;
	return Number(x.toPrecision(3)) + UNITS[unit];
}

export const perSecond = (x) => short(x) + "/s";
export const whole = (x) => Math.round(x).toLocaleString("en");

/* "12.3 µs" */
export function time(ns) {
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
		if (ns >= size)
			return Number((ns / size).toPrecision(3)) + " " + unit;
	return Math.round(ns) + " ns";
}

/* Head: names, those of numbers with a # before; rows of cells, or null for what is not known. */
export function table(caption, head, rows) {
	const right = head.map((name) => name.startsWith("#"));
	const cells = (row) => row.map((x, i) => x instanceof Node ? el("td", {}, x) :
		el("td", right[i] ? { class: "n" } : {}, x === null || x === undefined ? "–" : String(x)));

	return el("table", {}, caption === "" ? null : el("caption", {}, caption),
		el("thead", {}, el("tr", {}, ...head.map((name, i) => el("th", { scope: "col", class: right[i] ? "n" : null }, name.replace("#", ""))))),
		el("tbody", {}, ...rows.map((row) => el("tr", { class: row.kind || null }, ...cells(row)))));
}
