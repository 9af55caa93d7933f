/* SPDX-License-Identifier: BSD-2-Clause */
/* way.js - the ways of the next messages through a node: ladders that vp-ctl draws (vpc_page.c), one of them chosen here. */
import { ladders } from "./ask.js";
import { at, el } from "./dom.js";

const PATIENCE = "5s";

/* What vp-ctl has drawn is parsed, and nothing but its pictures is taken; scripts in it would not run in any case. */
const policy = window.trustedTypes?.createPolicy("ladder", { createHTML: (text) => text });

function pictures(text) {
	const page = new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");

	return [...page.querySelectorAll("svg")].map((picture) => document.importNode(picture, true));
}

function list(drawn) {
	const pick = at("way-message");

	pick.replaceChildren(...drawn.map((picture, i) => el("option", { value: i }, `${i + 1}: ${picture.querySelectorAll(".step").length} steps`)));
	at("way-pick").hidden = drawn.length < 2;
	pick.onchange = () => {
		const picture = drawn[pick.value];

		picture.setAttribute("role", "img");
		picture.setAttribute("aria-label", `message ${Number(pick.value) + 1}: ` + [...picture.querySelectorAll("text:not(.when):not(.node)")].map((t) => t.textContent.trim()).join("; "));
		at("way-body").replaceChildren(el("div", { class: "ladder" }, picture));
	};
	pick.onchange();
}

export async function follow(event) {
	const says = at("way-says"), button = event.target.querySelector("button"), count = Number(at("way-count").value), node = at("way-node").value;

	event.preventDefault();
	button.disabled = true;
	says.className = "";
	says.textContent = `waiting for ${count === 1 ? "a message" : count + " messages"} through ${node} …`;
	try {
		const drawn = pictures(await ladders({ cmd: "trace", node, count, time: PATIENCE }));

		says.textContent = drawn.length === 0 ? `none came in ${PATIENCE}` : "";
		if (drawn.length !== 0)
			list(drawn);
	} catch (error) {
		says.className = "error";
		says.textContent = error.message;
	}
	button.disabled = document.body.classList.contains("ended");
}
