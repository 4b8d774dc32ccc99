// Loaded before a conformance suite, which has no option for it: every request carries the
// server's token. Nothing else of a request changes.

import http from 'node:http';
import { createRequire, syncBuiltinESMExports } from 'node:module';

const load = createRequire(process.env.PEER_PACKAGES + '/');
const { getGlobalDispatcher, setGlobalDispatcher } = load('undici');
const token = `Bearer ${process.env.PEER_TOKEN}`;

// `fetch` and `undici`.
const bearer = (dispatch) => (options, handler) => {
  const headers = options.headers;
  if (Array.isArray(headers)) return dispatch({ ...options, headers: [...headers, 'authorization', token] }, handler);
  const given = headers?.[Symbol.iterator] ? Object.fromEntries(headers) : headers;
  return dispatch({ ...options, headers: { ...given, authorization: token } }, handler);
};
setGlobalDispatcher(getGlobalDispatcher().compose(bearer));

// Node's own client, for headers whose case matters.
const request = http.request;
http.request = (...args) => {
  const sent = request(...args);
  if (!sent.headersSent) sent.setHeader('authorization', token);
  return sent;
};
syncBuiltinESMExports();
