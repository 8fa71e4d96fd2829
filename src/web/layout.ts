import type { FastifyReply } from 'fastify'
import { type Html, html } from './html.ts'

/** Nothing is loaded from anywhere but here, and nobody frames us. */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

export function sendPage(reply: FastifyReply, title: string, body: Html, status = 200) {
  return reply
    .code(status)
    .headers({
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'same-origin',
      'Cache-Control': 'no-store',
    })
    .type('text/html; charset=utf-8')
    .send(layout(title, body).text)
}

function layout(title: string, body: Html) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Belfry</title>
<link rel="stylesheet" href="/assets/belfry.css">
<link rel="icon" href="/assets/belfry.svg" type="image/svg+xml">
</head>
<body>
<header class="top"><a href="/" class="brand"><img src="/assets/belfry.svg" alt="" width="20" height="20"> Belfry</a> <a href="/docs">API reference</a></header>
${body}
</body>
</html>
`
}
