// What raw.js is in Node.js: `ask` refuses every call before it comes here.

export const config = {};
export const crawl = {};
export const dataset = {};
export const events = {};
export const keyValue = {};
export const log = {};
export const queue = {};
export const session = {};
export const state = {};
