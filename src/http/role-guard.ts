import type { FastifyInstance } from 'fastify'
import { type NodeRole, nodeRoles } from '#platform/node-roles.ts'
import { selfHosted } from '#variants.ts'

const git = /^\/[^/]+\/[^/]+\/(?:info\/refs|info\/lfs\/.*|git-(?:upload|receive)-pack)$/
/** What a proxy or a monitor asks each node. */
const ofEveryNode = new Set(['/healthz', '/readyz', '/metrics'])

/**
 * Refuses requests that are for other nodes, because a proxy that sends them here is set up wrongly: the load of one kind would slow the
 * others again.
 */
export function guardRoles({ web, versioned }: Record<'web' | 'versioned', FastifyInstance>, roles: readonly NodeRole[]) {
  refuseOthers(web, roles, roleOf)
  refuseOthers(versioned, roles, () => 'api')
}

function refuseOthers(listener: FastifyInstance, roles: readonly NodeRole[], roleOf: (path: string) => NodeRole) {
  if (nodeRoles.every((role) => role === 'worker' || roles.includes(role))) return
  listener.addHook('onRequest', (request, reply, done) => {
    const [path = ''] = request.url.split('?', 1)
    const role = roleOf(path)
    if (roles.includes(role) || ofEveryNode.has(path)) return done()
    const message = `This node does not serve this address: its BELFRY_ROLES are ${roles.join(', ')}, without ${role}.`
    // Hooks of the API expect that its own first hook has run.
    reply.hijack()
    reply.raw.writeHead(421, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify({ message }))
  })
}

function roleOf(path: string): NodeRole {
  if (path.startsWith(`${selfHosted.prefix}/`) || path === selfHosted.prefix || path.startsWith('/api/')) return 'api'
  return git.test(path) ? 'git' : 'web'
}
