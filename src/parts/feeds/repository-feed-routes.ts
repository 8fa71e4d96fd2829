import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { withSlotsOf } from '#git/slots.ts'
import { commitsPage } from '#hosting/commits/views/commits-page.ts'
import { loadRepository } from '#hosting/repositories/repositories.ts'
import { Moved } from '#http/moved.ts'
import type { Viewer } from '#identity/accounts.ts'
import { Authenticator, anonymous } from '#identity/callers.ts'
import { allows } from '#identity/permissions.ts'
import { Refusal } from '#platform/errors.ts'
import { type Site, servePage, show } from '#web/page.ts'
import { atomOf } from './atom.ts'
import { findKeyOwner } from './keys.ts'
import { type RepositoryFeed, readRepositoryFeed } from './repository-feeds.ts'
import { sendAtom } from './send-atom.ts'

const suffix = '.atom'

/**
 * The page of its commits, and Atom feeds of a repository: `/{owner}/{repo}.atom`, and `releases.atom`, `tags.atom`, `issues.atom`, `commits.atom` and
 * `commits/{ref}.atom` below it. A feed of a private repository needs a token: that of a feed key in the address, or a personal one as for the API.
 */
export function mountRepositoryFeeds(listener: FastifyInstance, site: Site) {
  const { belfry } = site
  const authenticator = new Authenticator(belfry)

  for (const kind of ['releases', 'tags', 'issues'] as const) {
    listener.get(`/:owner/:repo/${kind}${suffix}`, (request, reply) => serve(request, reply, { kind }))
  }
  listener.get(`/:owner/:repo/commits${suffix}`, (request, reply) => serve(request, reply, { kind: 'commits', ref: '' }))
  listener.get<{ Params: { '*': string } }>('/:owner/:repo/commits/*', (request, reply) => {
    const path = request.params['*']
    if (!path.endsWith(suffix)) return servePage(site, show(request.url, commitsPage), request, reply)
    return serve(request, reply, { kind: 'commits', ref: path.slice(0, -suffix.length) })
  })
  listener.get<{ Params: { repo: string } }>('/:owner/:repo(^[\\w.-]+\\.atom$)', (request, reply) => {
    request.params.repo = request.params.repo.slice(0, -suffix.length)
    return serve(request, reply, { kind: 'activity' })
  })

  async function serve(request: FastifyRequest, reply: FastifyReply, feed: RepositoryFeed) {
    const { owner, repo: name } = request.params as { owner: string; repo: string }
    if (`${owner}/${name}${'ref' in feed ? feed.ref : ''}`.includes('\0')) return reply.callNotFound()
    try {
      const viewer = await viewerOf(request)
      const repo = await loadRepository(belfry.db, viewer, owner, name)
      const caller = { user_id: viewer.viewer_id, ip: request.ip }
      const document = await withSlotsOf(belfry.storage.reading, caller, () => readRepositoryFeed({ belfry, repo, viewer }, feed))
      const text = atomOf(document, belfry.addresses.web)
      const shared = { is_public: viewer.viewer_id === null, until: null }
      return sendAtom(request, reply, shared, { ...document, text }, belfry.db.now)
    } catch (error) {
      if (error instanceof Moved) {
        const rest = request.url.slice(`/${owner}/${name}`.length)
        return reply.redirect(`/${error.to.owner}/${error.to.name}${rest}`, 301)
      }
      if (error instanceof Refusal && ['missing', 'invalid', 'bad_credentials'].includes(error.reason))
        return reply.callNotFound()
      throw error
    }
  }

  async function viewerOf({ url, headers: { authorization }, ip: address }: FastifyRequest): Promise<Viewer> {
    const mark = url.indexOf('?')
    const token = mark < 0 ? null : new URLSearchParams(url.slice(mark)).get('token')
    const owner = token === null ? undefined : await findKeyOwner(belfry.db, token)
    if (owner) return { ...anonymous, viewer_id: owner.id, sees_private: true }
    if (authorization === undefined) return anonymous
    const caller = await authenticator.authenticate({ authorization, address, code: null })
    const reads = caller.token?.kind !== 'fine_grained' || allows(caller.token.permissions, 'contents:read')
    return reads ? caller : anonymous
  }
}
