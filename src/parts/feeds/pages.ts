import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Failure, failureOf, handleError } from '#http/errors.ts'
import { organizationPage } from '#parts/profiles/views/organization-page.ts'
import { profilePage } from '#parts/profiles/views/profile-page.ts'
import { CheckedCache } from '#platform/checked-cache.ts'
import type { Database } from '#platform/database.ts'
import type { Variant } from '#variants.ts'
import { type Outcome, type Site, servePage, show, type Visit } from '#web/page.ts'
import { atomOf, type FeedDocument } from './atom.ts'
import { type Feed, type FeedAddress, feedPath, findFeed, parseFeedAddress, readFeed } from './feeds.ts'
import { sendAtom } from './send-atom.ts'
import { timelinePage } from './views/activity.ts'

/** Serves feeds as Atom documents, and public ones also as HTML pages. */
export function mountFeeds(listener: FastifyInstance, site: Site, variant: Variant) {
  const { belfry } = site
  const { db, replica } = belfry
  const documents = new CheckedCache<FeedDocument & { text: string }>(db, 32 * 1024 * 1024)

  const everyone: FeedAddress = { kind: 'everyone' }
  listener.get(feedPath(everyone), (request, reply) => serve(request, reply, everyone, false))
  listener.get(`${feedPath(everyone)}.atom`, (request, reply) => serve(request, reply, everyone, true))
  for (const path of ['/:name', '/organizations/:org/:name']) {
    listener.get<{ Params: { name: string; org?: string } }>(path, (request, reply) => {
      // The bot of an app has no profile. Lists link to it like to a user.
      const [, slug] = /^([a-z\d-]{1,100})\[bot\]$/.exec(request.params.name) ?? []
      if (slug && !request.params.org) return reply.redirect(`/apps/${slug}`, 303)
      const parsed = parseFeedAddress(request.params.name, request.params.org)
      return parsed ? serve(request, reply, parsed.address, parsed.atom) : reply.callNotFound()
    })
  }

  async function serve(request: FastifyRequest, reply: FastifyReply, address: FeedAddress, atom_suffix: boolean) {
    const atom = atom_suffix || prefersAtom(request.headers.accept)
    try {
      return await find(request, reply, address, atom)
    } catch (error) {
      if (!atom || failureOf(error).kind !== 'outage') throw error
      return sendUnavailable(reply, address, handleError(request, reply, error))
    }
  }

  async function find(request: FastifyRequest, reply: FastifyReply, address: FeedAddress, atom: boolean) {
    const mark = request.url.indexOf('?')
    const token = mark < 0 ? null : new URLSearchParams(request.url.slice(mark)).get('token')
    const feed = await findFeed(belfry, variant, address, token)
    if (!feed) return reply.callNotFound()
    if (!atom)
      return servePage(
        site,
        show(feed.path, (visit) => pageOf(visit, feed)),
        request,
        reply.header('Vary', 'Accept'),
      )
    const load = async (from: Database) => {
      const { document, topics } = await readFeed(from, feed, belfry.addresses.web)
      const text = atomOf(document, belfry.addresses.web)
      // The text, and the entries it was made from, which are about as large.
      return { value: { ...document, text }, topics, bytes: 4 * text.length }
    }
    const document = await documents.getOrLoad(`${feed.path} ${feed.token}`, load, { replica })
    const shared = { is_public: feed.token === null, until: feed.view.until }
    return sendAtom(request, reply, shared, document, db.now)
  }

  /** An empty feed whose title is the error, because feed readers show the title. */
  function sendUnavailable(reply: FastifyReply, address: FeedAddress, { message = '' }: Failure) {
    const path = feedPath(address)
    const empty = { title: message, path, page: path, token: null, updated_at: db.now, entries: [] }
    return reply
      .headers({ 'Cache-Control': 'no-store', Vary: 'Accept', 'X-Content-Type-Options': 'nosniff' })
      .type('application/atom+xml; charset=utf-8')
      .send(atomOf(empty, belfry.addresses.web))
  }
}

/** Public feeds are also pages: the profile of an account, or the timeline of everyone. */
function pageOf(visit: Visit, { account, path, view }: Feed): Promise<Outcome> {
  if (!account) return timelinePage(visit, path, view.until)
  return account.type === 'Organization' ? organizationPage(visit, account) : profilePage(visit, account)
}

/** Whether the Accept header names Atom, and does not prefer HTML. */
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
