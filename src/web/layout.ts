import type { FastifyReply } from 'fastify'
import type { Account } from '#identity/accounts.ts'
import { type Html, html } from './html.ts'
import { signInAddress } from './return-to.ts'

/** Nothing is loaded from other servers, and no site may frame our pages. There is no form-action: OAuth redirects to other sites after a form. */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"

/** The same page for what does not exist and what the visitor may not see. */
export const nothingHere = {
  title: 'Not found',
  status: 404,
  body: html`<main><h1>There is no such page</h1><p>Try the <a href="/">first page</a>.</p></main>`,
}

/** The signed-in user, for the links at the top. */
export interface Signed {
  visitor: Account
  csrf: string
  /** The number of unread notifications, counted up to one more than is shown. */
  unread: number
}

export const mostShown = 99

export interface Extras {
  /** The Atom feed of this page. */
  feed?: string
  /** Styles and scripts for this page, from /assets. */
  assets?: string[]
  /** Its scripts open connections to this server. */
  live?: boolean
}

export function sendPage(
  reply: FastifyReply,
  title: string,
  body: Html,
  status = 200,
  signed?: Signed,
  { live = false, ...extras }: Extras = {},
) {
  return reply
    .code(status)
    .headers({
      'Content-Security-Policy': live ? `${policy}; connect-src 'self'` : policy,
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'deny',
      'Referrer-Policy': 'same-origin',
      'Cache-Control': 'no-store',
    })
    .type('text/html; charset=utf-8')
    .send(layout(title, body, signed ? whoIs(signed) : signInLink(reply), extras).text)
}

const signInLink = ({ request }: FastifyReply) => html`<a href="${signInAddress(request)}">Sign in</a>`

function layout(title: string, body: Html, who: Html, { feed, assets = [] }: Extras) {
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
  }${assets.map(load)}
</head>
<body>
<header class="top"><a href="/" class="brand"><img src="/assets/belfry.svg" alt="" width="20" height="20"> Belfry</a> <a href="/docs">API reference</a>
<span class="space"></span>${who}</header>
${body}
</body>
</html>
`
}

const load = (name: string) =>
  name.endsWith('.css')
    ? html`
<link rel="stylesheet" href="/assets/${name}">`
    : html`
<script src="/assets/${name}" type="module"></script>`

const whoIs = ({ visitor, csrf, unread }: Signed) =>
  html`<a href="/notifications">Notifications <span class="count" id="unread"${!unread && html` hidden`}>${unread > mostShown ? `${mostShown}+` : unread}</span></a>
<a href="/settings/profile">${visitor.login}</a> <form method="post" action="/logout" class="inline"><input type="hidden" name="csrf" value="${csrf}"><button class="link">Sign out</button></form>`
