/* SPDX-License-Identifier: BSD-2-Clause */
/* params.js - the parameters of a node, or of threading; those that are live have a field, and a refusal stands beside it. */
import { ask } from "./ask.js";
import { el } from "./dom.js";

function live(row) {
	const input = el("input", { type: "text", name: row.parameter, value: row.value ?? "", size: 10, maxlength: 1024, autocomplete: "off",
		spellcheck: "false", "aria-label": `${row.parameter} of ${row.node}` });
	const says = el("output", { role: "status" });
	const form = el("form", { "data-param": row.parameter }, input, el("button", {}, "Set"), says);

	form.addEventListener("submit", async (event) => {
		event.preventDefault();
		try {
			const done = await ask({ cmd: "set", node: row.node, param: row.parameter, value: input.value });

			input.value = done.value;
			input.removeAttribute("aria-invalid");
			says.className = "";
			says.textContent = `was ${done.was}`;
		} catch (error) {
			input.setAttribute("aria-invalid", "true");
			says.className = "error";
			says.textContent = error.message;
		}
	});
	return form;
}

export async function params(node) {
	const { rows } = await ask({ cmd: "get", node });
	const line = (row) => el("tr", {}, el("th", { scope: "row" }, row.parameter),
		el("td", {}, row.live ? live(row) : row.value ?? "–"), el("td", { class: "doc" }, row.doc));

	rows.sort((a, b) => b.live - a.live);
	return el("table", {}, el("thead", {}, el("tr", {}, ...["parameter", "value", "what it is"].map((name) => el("th", { scope: "col" }, name)))),
		el("tbody", {}, ...rows.map(line)));
}
