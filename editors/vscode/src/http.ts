// A request to the server. `fetch` would do, but takes no certificate of the server's own.

import http from "node:http";
import https from "node:https";
import { Readable } from "node:stream";

export interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
  /** The only certificate that counts, as PEM. */
  ca?: string | null;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const EMPTY = new Set([204, 205, 304]);

/** Sends a request and goes nowhere else: a redirect is an error. */
export function send(url: string, { method = "GET", headers = {}, body, signal, ca }: Sent = {}): Promise<Response> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
    const options = { method, headers: { ...headers, ...length }, ...(signal ? { signal } : {}), ...(ca ? { ca } : {}) };
    const request = (url.startsWith("https:") ? https : http).request(url, options, (response) => {
      const status = response.statusCode ?? 500;
      if (REDIRECTS.has(status)) {
        response.destroy();
        reject(new Error(`${url} leads elsewhere`));
        return;
      }
      const given = Object.entries(response.headers).flatMap(([name, value]): [string, string][] => [value ?? []].flat().map((one) => [name, one]));
      if (EMPTY.has(status)) response.resume();
      resolve(new Response(EMPTY.has(status) ? null : (Readable.toWeb(response) as unknown as ReadableStream), { status, statusText: response.statusMessage ?? "", headers: given }));
    });
    // Also for what comes after the answer.
    request.on("error", reject);
    request.end(body);
  });
}
