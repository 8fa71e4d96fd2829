import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { listOrganizations } from '#hosting/organizations/organizations.ts'
import { etagOf, isFresh } from '#http/conditional.ts'
import { type Failure, failureOf, handleError } from '#http/errors.ts'
import type { Account } from '#identity/accounts.ts'
import { ownerLink } from '#parts/webhooks/views/hook-page.ts'
import { missing } from '#platform/errors.ts'
import { ReadCache } from '#platform/read-cache.ts'
import type { Variant } from '#variants.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, field, type Problem, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, type Site, servePage, show, showOwn, submitOwn } from '#web/page.ts'
import { askFirst, moment, note, settingsPage, shownOnce } from '#web/settings.ts'
import { atomOf, type FeedDocument } from './atom.ts'
import type { Entry } from './entries.ts'
import { type Feed, findFeed, type Place, pathOf, readFeed, readPlace } from './feeds.ts'
import { feedUrls } from './json.ts'
import { createFeedKey, deleteFeedKey, type FeedKey, listFeedKeys, mostKeys } from './keys.ts'

/** Feeds as Atom documents; two of them are pages for people as well. */
export function mountFeeds(listener: FastifyInstance, site: Site, variant: Variant) {
  const { belfry } = site
  const { db } = belfry
  const documents = new ReadCache<FeedDocument & { text: string }>(db, {
    entries: 500,
    bytes: 32 * 1024 * 1024,
    // The text, and the entries that it was written from, which are about as much.
    sizeOf: ({ text }) => 4 * text.length,
  })

  const everyone: Place = { of: 'everyone' }
  listener.get(pathOf(everyone), (request, reply) => serve(request, reply, everyone, false))
  listener.get(`${pathOf(everyone)}.atom`, (request, reply) => serve(request, reply, everyone, true))
  for (const path of ['/:name', '/organizations/:org/:name']) {
    listener.get<{ Params: { name: string; org?: string } }>(path, (request, reply) => {
      const named = readPlace(request.params.name, request.params.org)
      return named ? serve(request, reply, named.place, named.atom) : reply.callNotFound()
    })
  }

  async function serve(request: FastifyRequest, reply: FastifyReply, place: Place, as_atom: boolean) {
    const atom = as_atom || prefersAtom(request.headers.accept)
    try {
      return await find(request, reply, place, atom)
    } catch (error) {
      if (!atom || failureOf(error).kind !== 'outage') throw error
      return sendUnavailable(reply, place, handleError(request, reply, error))
    }
  }

  async function find(request: FastifyRequest, reply: FastifyReply, place: Place, atom: boolean) {
    const mark = request.url.indexOf('?')
    const token = mark < 0 ? null : new URLSearchParams(request.url.slice(mark)).get('token')
    const feed = await findFeed(belfry, variant, place, token)
    if (!feed) return reply.callNotFound()
    const document = await documents.getOrLoad(`${feed.path} ${feed.token}`, async () => {
      const read = await readFeed(db, feed, belfry.addresses.web)
      return { ...read, text: atomOf(read, belfry.addresses.web) }
    })
    if (atom) return sendAtom(request, reply, feed, document, db.now)
    const page = show(feed.path, async (visit) => activityPage(feed, document.entries, await ownerLink(visit, feed.account)))
    return servePage(site, page, request, reply.header('Vary', 'Accept'))
  }

  /** A feed without entries, whose title says why: feed readers that show it show the title. */
  function sendUnavailable(reply: FastifyReply, place: Place, { message = '' }: Failure) {
    const path = pathOf(place)
    const empty = { title: message, path, page: path, token: null, updated_at: db.now, entries: [] }
    return reply
      .headers({ 'Cache-Control': 'no-store', Vary: 'Accept', 'X-Content-Type-Options': 'nosniff' })
      .type('application/atom+xml; charset=utf-8')
      .send(atomOf(empty, belfry.addresses.web))
  }
}

/** Whether a client asks for Atom by name, and not for a page rather. */
function prefersAtom(accept = '') {
  const qualities = new Map(
    accept
      .toLowerCase()
      .split(',')
      .map((range) => {
        const [name = '', ...parameters] = range.split(';').map((part) => part.trim())
        const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
        return [name, Number(quality ?? 1)]
      }),
  )
  const atom = qualities.get('application/atom+xml') ?? 0
  return atom > 0 && atom >= (qualities.get('text/html') ?? 0)
}

/**
 * Acts carry the moment at which they began, and may end later: for this long after the newest, another can still come before it.
 * In milliseconds.
 */
const settling = 60_000

function sendAtom(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { token, view }: Feed,
  { text, updated_at }: FeedDocument & { text: string },
  now: Date,
) {
  const settled = (view.until ?? now).getTime() - updated_at.getTime() > settling
  // Until then, a date that nobody is answered 304 for.
  const modified = new Date(updated_at.getTime() - (settled ? 0 : 1000)).toUTCString()
  const etag = etagOf(text)
  reply.headers({
    ETag: etag,
    'Last-Modified': modified,
    Vary: 'Accept',
    'Cache-Control': token === null ? 'public, max-age=60, s-maxage=60' : 'private, no-cache',
    // Addresses with a token in them are told to nobody.
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'",
  })
  // The very date we sent, and no later one: when its newest entry is taken back, a feed's date moves backwards.
  const dated = settled && headers['if-none-match'] === undefined && headers['if-modified-since'] === modified
  if (dated || isFresh(headers, etag)) return reply.code(304).send()
  return reply.type('application/atom+xml; charset=utf-8').send(text)
}

function activityPage({ account, path }: Feed, entries: Entry[], settings: Html | undefined): Outcome {
  const heading = account
    ? html`<h1 class="who"><img src="/avatars/${account.id}" alt="" width="48" height="48"> ${account.name || account.login}</h1>${profile(account)}${settings}`
    : html`<h1>What happens in public</h1>`
  const list = entries.length
    ? html`<ol class="activity">${entries.map(showEntry)}</ol>`
    : html`<p class="muted">Nothing lately.</p>`
  const body = html`<main>${heading}${account && html`<h2>Public activity</h2>`}${list}<p><a href="${path}.atom">As a feed</a></p></main>`
  return { title: account ? account.login : 'Timeline', body, feed: `${path}.atom` }
}

function profile({ login, type, bio, company, location, blog, created_at }: Account): Html {
  const facts = [
    html`<strong>${login}</strong>`,
    type === 'Organization' && 'an organization',
    company,
    location,
    blog && site(blog),
  ]
  const shown = facts.filter((fact) => fact).map((fact, index) => html`${index > 0 && ' · '}${fact}`)
  return html`${bio && html`<p>${bio}</p>`}<p class="muted">${shown} · since ${created_at.toISOString().slice(0, 10)}</p>`
}

/** A link only where it leads to another page, and does nothing here. */
function site(blog: string): Html {
  return /^https?:\/\//i.test(blog) ? html`<a href="${blog}" rel="nofollow noreferrer">${blog}</a>` : html`${blog}`
}

const showEntry = ({ actor, content, created_at }: Entry) =>
  html`<li><img src="/avatars/${actor.id}" alt="" width="30" height="30"><div>${content}<p class="muted">${moment(created_at)}</p></div></li>`

const place = '/settings/feeds'

export const pages: PageRoute[] = [
  showOwn(place, (visit) => keysPage(visit)),
  submitOwn(place, confirmed(makeKey)),
  showOwn(`${place}/delete`, askToRevoke),
  submitOwn(`${place}/delete`, async (visit) => {
    const id = typed(visit.form, 'id')
    if (!/^\d{1,15}$/.test(id)) throw missing()
    await visit.db.transaction((db) => deleteFeedKey(db, visit.visitor, Number(id)))
    return { to: place, flash: { done: 'The key is revoked.' } }
  }),
]

function makeKey(visit: SignedIn): Promise<Outcome> {
  return attempt(
    async () => {
      const { token } = await visit.db.transaction((db) => createFeedKey(db, visit.visitor, typed(visit.form, 'name')))
      return { to: place, flash: { secret: token } }
    },
    (problem) => keysPage(visit, problem),
  )
}

async function keysPage(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const { secret: made, done } = visit.flash
  const { rows } = await listFeedKeys(visit.db, visit.visitor, { limit: mostKeys, offset: 0 })
  const list = rows.length ? rows.map(card) : html`<p>You have none yet.</p>`
  const name = problem ? visit.form.get('name') : ''
  const make = html`${alert(problem)}${field({ label: 'What it is for', name: 'name', value: name, required: true })}
<button class="primary">Make a key</button>`
  const body = html`<p class="muted">A key opens your private feeds in a feed reader, and nothing else. Your standing feed addresses, which
cannot be revoked, are told by <code>GET /feeds</code> to programs that sign in with Basic authentication.</p>
${made !== undefined && shownOnce('Your new feeds', await addressesOf(visit, made))}${note(done)}${list}
<h2>New key</h2>${form(visit, place, make)}`
  return settingsPage(place, 'Feed keys', body, problem?.status)
}

async function addressesOf({ belfry, db, visitor: user }: SignedIn, token: string): Promise<string> {
  const { rows } = await listOrganizations(db, user, { limit: 1000, offset: 0 }, false)
  const urls = feedUrls({ user, token, organizations: rows }, belfry.addresses.web)
  return [urls.current_user_url, urls.current_user_actor_url, ...urls.current_user_organization_urls].join('\n')
}

const describe = ({
  name,
  last_eight,
  created_at,
  last_used_at,
}: FeedKey) => html`<p><strong>${name}</strong> <code>…${last_eight}</code></p>
<p class="muted">Made ${moment(created_at)} · ${last_used_at ? html`last used ${moment(last_used_at)}` : 'never used'}</p>`

const card = (key: FeedKey) =>
  html`<section class="card">${describe(key)}<a class="button danger" href="${place}/delete?id=${key.id}" aria-label="Revoke ${key.name}">Revoke</a></section>`

async function askToRevoke(visit: SignedIn): Promise<Outcome> {
  const { rows } = await listFeedKeys(visit.db, visit.visitor, { limit: mostKeys, offset: 0 })
  const key = rows.find(({ id }) => String(id) === visit.query.get('id'))
  if (!key) throw missing()
  const fields = html`<input type="hidden" name="id" value="${key.id}">`
  const body = html`<section class="card">${describe(key)}</section>
<p>Feed readers that use it are refused at once. A revoked key cannot be brought back.</p>`
  return askFirst(visit, {
    path: place,
    title: 'Revoke this key?',
    body,
    action: `${place}/delete`,
    fields,
    button: 'Revoke this key',
  })
}
