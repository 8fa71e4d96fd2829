import type { FastifyReply } from 'fastify'
import type { Account } from '#hosting/people/people.ts'
import { type Html, html } from './html.ts'

/** Nothing is loaded from anywhere but here, nobody frames us, and forms are sent here; where they lead on to is our own choice. */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"

/** Who is signed in, for the links at the top. */
export interface Signed {
  visitor: Account
  csrf: string
}

/** `feed` is where the same is told to feed readers. */
export function sendPage(reply: FastifyReply, title: string, body: Html, status = 200, signed?: Signed, feed?: string) {
  return reply
    .code(status)
    .headers({
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'deny',
      'Referrer-Policy': 'same-origin',
      'Cache-Control': 'no-store',
    })
    .type('text/html; charset=utf-8')
    .send(layout(title, body, signed, feed).text)
}

function layout(title: string, body: Html, signed: Signed | undefined, feed: string | undefined) {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Belfry</title>
<link rel="stylesheet" href="/assets/belfry.css">
<link rel="icon" href="/assets/belfry.svg" type="image/svg+xml">${
    feed !== undefined &&
    html`
<link rel="alternate" type="application/atom+xml" href="${feed}">`
  }
</head>
<body>
<header class="top"><a href="/" class="brand"><img src="/assets/belfry.svg" alt="" width="20" height="20"> Belfry</a> <a href="/docs">API reference</a>
<span class="space"></span>${signed ? whoIs(signed) : html`<a href="/login">Sign in</a>`}</header>
${body}
</body>
</html>
`
}

const whoIs = ({ visitor, csrf }: Signed) =>
  html`<a href="/settings/profile">${visitor.login}</a> <form method="post" action="/logout" class="inline"><input type="hidden" name="csrf" value="${csrf}"><button class="link">Sign out</button></form>`
