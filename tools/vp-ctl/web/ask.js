/* SPDX-License-Identifier: BSD-2-Clause */
/* ask.js - what is asked of vp-ctl, and what comes back; the page's own address has the token. */

const token = location.pathname.split("/")[1];

/* The graph is there no more. */
export class Ended extends Error {}
/* What is refused, with its reason. */
export class Refused extends Error {}

async function answer(request) {
	let response;

	try {
		response = await request;
	} catch (_) {
		throw new Error("vp-ctl web does not answer");
	}
	if (response.status === 410)
		throw new Ended("the graph has ended");
	return response;
}

async function refusal(response) {
	const text = await response.text();
	let why = text;

	try {
		why = JSON.parse(text).error.message;
	} catch (_) {
		/* plain text, as it is */
	}
	return new Refused(why || "refused without a reason");
}

/* All counters of this moment: docs/schema/vp-ctl-snapshot-2.json. */
export async function snapshot() {
	const response = await answer(fetch("snapshot", { cache: "no-store" }));

	if (!response.ok)
		throw await refusal(response);
	return response.json();
}

function post(request) {
	return answer(fetch("ask", { method: "POST", headers: { "X-VP-Token": token }, body: JSON.stringify(request) }));
}

/* The result of a request of docs/vp-ctl.md: show, get, set. */
export async function ask(request) {
	const response = await post(request), text = await response.clone().text();
	let said;

	try {
		said = JSON.parse(text);
	} catch (_) {
		throw await refusal(response);
	}
	if (!said.ok)
		throw await refusal(response);
	return said.result;
}

/* The ladders of a trace, drawn. */
export async function ladders(request) {
	const response = await post(request);

	if (!response.ok || !response.headers.get("Content-Type").startsWith("text/html"))
		throw await refusal(response);
	return response.text();
}
