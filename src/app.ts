import type { FastifyInstance } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { api as administration } from '#hosting/administration/api.ts'
import { api as collaborators } from '#hosting/collaborators/api.ts'
import { api as organizations } from '#hosting/organizations/api.ts'
import { api as people } from '#hosting/people/api.ts'
import { api as repositories } from '#hosting/repositories/api.ts'
import { api as teams } from '#hosting/teams/api.ts'
import type { Group } from '#http/endpoint.ts'
import { Metrics, mountHealth } from '#http/health.ts'
import { openListener } from '#http/listener.ts'
import { metaApi } from '#http/meta.ts'
import { mountApi } from '#http/mount.ts'
import { describeApi } from '#http/openapi.ts'
import { mountDocumentation } from '#parts/documentation/pages.ts'
import { selfHosted, versioned } from '#variants.ts'
import { mountAssets } from '#web/assets.ts'
import { mountAvatars } from '#web/avatars.ts'
import { mountHome } from '#web/home.ts'

/** Everything the interface serves, in the order of its reference. */
const apiGroups = (belfry: Belfry): Group[] => [
  metaApi(belfry),
  people,
  organizations,
  teams,
  repositories,
  collaborators,
  administration,
]

export interface App {
  web: FastifyInstance
  versioned: FastifyInstance
  /** Says so on `/readyz` first; then the listeners may be closed. */
  announceStop(): void
}

/** Every part on the two listeners: pages, git and the self-hosted variant on one, the versioned variant on the other. */
export async function openApp(belfry: Belfry): Promise<App> {
  const groups = apiGroups(belfry)
  const metrics = new Metrics(belfry)
  let stopping = false
  const listeners = { web: openListener(belfry), versioned: openListener(belfry) }
  for (const [name, listener] of Object.entries(listeners)) {
    metrics.observe(listener, name as keyof typeof listeners)
    mountHealth(listener, belfry, () => stopping)
  }
  mountHome(listeners.web, belfry)
  mountAssets(listeners.web)
  mountAvatars(listeners.web)
  metrics.mount(listeners.web, belfry)
  mountDocumentation(listeners.web, () => describeApi(belfry, groups, selfHosted))
  await mountApi(listeners.web, belfry, selfHosted, groups)
  await mountApi(listeners.versioned, belfry, versioned, groups)
  return {
    ...listeners,
    announceStop: () => {
      stopping = true
    },
  }
}
