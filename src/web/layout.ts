import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Account } from '#identity/accounts.ts'
import { readOnly } from '#platform/errors.ts'
import { acceptedEncoding, assetAddress } from './assets.ts'
import { avatar } from './components/avatar.ts'
import { emptyState } from './components/empty-state.ts'
import { icon } from './components/icon.ts'
import { menu } from './components/menu.ts'
import { banner } from './components/toast.ts'
import { type Html, html } from './html.ts'
import { type Preferences, readPreferences } from './preferences.ts'
import { signInAddress } from './return-to.ts'

/**
 * Nothing is loaded from other servers, and no site may frame our pages. There is no form-action: OAuth redirects to other sites after a form.
 * The hash is that of the style of Turbo's progress bar.
 */
const policy =
  "default-src 'none'; style-src 'self' 'sha256-WAyOw4V+FqDc35lQPyRADLBWbuNK8ahvYEaQIYF1+Ps='; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"

/** The same page for what does not exist and what the visitor may not see. */
export const nothingHere = {
  title: 'Not found',
  status: 404,
  body: html`<main>${emptyState(
    'telescope',
    'There is no such page',
    html`The address may be wrong, or you may need to sign in with another account to see it. Try the <a href="/">first page</a>.`,
    undefined,
    'h1',
  )}</main>`,
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
  /** The browser sends the forms itself, because they may redirect to another site, and a script may not follow there. */
  plain?: boolean
  /** Why the server is read-only. */
  notice?: string | undefined
}

/** A page as it is sent. */
export interface SentPage {
  headers: Record<string, string>
  payload: string | Buffer
}

export function makePage(request: FastifyRequest, title: string, body: Html, signed?: Signed, extras: Extras = {}): SentPage {
  const who = signed ? ownLinks(signed) : signInLink(request)
  const { text } = layout(title, body, who, readPreferences(request), extras)
  const encoding = acceptedEncoding(request, Object.keys(compress))
  return {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'deny',
      'Referrer-Policy': 'same-origin',
      'Cache-Control': 'no-store',
      ...(encoding !== undefined && { 'Content-Encoding': encoding }),
    },
    payload: (encoding !== undefined && compress[encoding]?.(text)) || text,
  }
}

export function sendPage(reply: FastifyReply, { headers, payload }: SentPage, status = 200) {
  const others = reply.getHeader('Vary')
  const vary = others ? `${others}, Accept-Encoding` : 'Accept-Encoding'
  return reply.code(status).headers(headers).header('Vary', vary).send(payload)
}

/** A page of 20 KB becomes 4 KB; zstd takes 0.05 ms for it, gzip 0.12, brotli 0.18. CSRF tokens are masked, see csrf.ts. */
const compress: Record<string, (text: string) => Buffer> = {
  zstd: (text) => zstdCompressSync(text),
  gzip: (text) => gzipSync(text, { level: 4 }),
}

/** `turbo-cache-control`: when a link is followed, an old copy of its page is never shown first. */
function layout(title: string, body: Html, who: Html, { color, keys }: Preferences, { feed, plain = false, notice }: Extras) {
  return html`<!doctype html>
<html lang="en" data-color-mode="${color}" data-keys="${keys}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Belfry</title>
<meta name="turbo-cache-control" content="no-preview">
<meta name="turbo-prefetch" content="false">
<meta name="turbo-refresh-method" content="morph">
<meta name="turbo-refresh-scroll" content="preserve">
<link rel="stylesheet" href="${assetAddress('belfry.css')}" data-turbo-track="reload">
<script src="${assetAddress('belfry.js')}" type="module" data-turbo-track="reload"></script>
<link rel="icon" href="${assetAddress('belfry.svg')}" type="image/svg+xml">${
    feed !== undefined &&
    html`
<link rel="alternate" type="application/atom+xml" href="${feed}">`
  }
</head>
<body${plain && html` data-turbo="false"`}>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><a href="/" class="brand"><img src="${assetAddress('belfry.svg')}" alt="" width="24" height="24"> Belfry</a>
<nav class="top-links" aria-label="Site"><a href="/explore">Explore</a><a href="/issues">Issues</a><a href="/pulls">Pull requests</a></nav>
<span class="space"></span>
<form class="site-search" role="search" method="get" action="/search"><input id="site-search" name="q" type="search" placeholder="Search" aria-label="Search" maxlength="256" autocomplete="off"><kbd aria-hidden="true">/</kbd></form>
${who}</header>${
    notice !== undefined &&
    html`
<section class="site-notice" aria-label="Maintenance">${banner(html`<strong>${readOnly}</strong> ${notice}`, 'attention')}</section>`
  }
<div id="content" tabindex="-1"></div>${body}
<footer class="site-footer"><span>Belfry</span><a href="/docs">API reference</a><a href="/explore">Explore</a>
<button type="button" class="link" data-palette hidden>Command palette <kbd>Ctrl K</kbd></button><button type="button" class="link" data-key-help hidden>Keys <kbd>?</kbd></button></footer>
</body>
</html>
`
}

const signInLink = (request: FastifyRequest) => html`<a class="button" href="${signInAddress(request)}">Sign in</a>`

function ownLinks({ visitor, csrf, unread }: Signed): Html {
  const { login, site_admin } = visitor
  const signOut = html`<form method="post" action="/logout" data-turbo="false"><input type="hidden" name="csrf" value="${csrf}"><button>${icon('sign-out')}<span>Sign out</span></button></form>`
  return html`${menu(
    html`<span class="icon-link">${icon('plus')}</span>`,
    [
      { text: 'New repository', href: '/new', icon: 'repo' },
      { text: 'Import repository', href: '/new/import', icon: 'repo-push' },
      { text: 'New organization', href: '/organizations/new', icon: 'organization' },
    ],
    { label: 'Create' },
  )}
<a class="icon-link" href="/notifications" title="Notifications">${icon('inbox')}<span class="unseen">Notifications</span> <span id="unread" data-stream="/notifications/stream"${!unread && html` hidden`}>${unread > mostShown ? `${mostShown}+` : unread}</span></a>
${menu(
  avatar(visitor, 32),
  [
    { text: html`<strong>${login}</strong>`, href: `/${login}` },
    'divider',
    { text: 'Your profile', href: `/${login}`, icon: 'person' },
    { text: 'Your repositories', href: `/${login}?tab=repositories`, icon: 'repo' },
    { text: 'Your issues', href: '/issues', icon: 'issue-opened' },
    { text: 'Your pull requests', href: '/pulls', icon: 'git-pull-request' },
    { text: 'Your organizations', href: '/settings/organizations', icon: 'organization' },
    { text: 'Your stars', href: '/stars', icon: 'star' },
    { text: 'Watching', href: '/watching', icon: 'eye' },
    'divider',
    { text: 'Settings', href: '/settings/profile', icon: 'gear' },
    ...(site_admin ? [{ text: 'Administration', href: '/site-admin', icon: 'server' }] : []),
    { text: 'API reference', href: '/docs', icon: 'book' },
    'divider',
    { markup: signOut },
  ],
  { label: `Signed in as ${login}` },
)}`
}
