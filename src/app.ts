import type { FastifyInstance } from 'fastify'
import { knowAddress } from '#activity/outbox/addresses.ts'
import { setOrganizationPayloadComposer } from '#activity/outbox/organization-outbox.ts'
import { setPayloadComposer } from '#activity/outbox/outbox.ts'
import type { Belfry } from '#belfry.ts'
import { api as absent } from '#hosting/absent/api.ts'
import { api as administration } from '#hosting/administration/api.ts'
import { guardWrites, MaintenanceState } from '#hosting/administration/maintenance-mode.ts'
import { api as automation } from '#hosting/automation/api.ts'
import { api as checkRuns } from '#hosting/checks/api.ts'
import { api as checkSuites } from '#hosting/checks/suites/api.ts'
import { api as collaborators } from '#hosting/collaborators/api.ts'
import { api as commitComments } from '#hosting/commit-comments/api.ts'
import { api as commits } from '#hosting/commits/api.ts'
import { api as contents } from '#hosting/contents/api.ts'
import { api as deployments } from '#hosting/deployments/api.ts'
import { downloadApi } from '#hosting/downloads/api.ts'
import { mountGit } from '#hosting/git/api.ts'
import { api as gitData } from '#hosting/git-data/api.ts'
import { api as issues } from '#hosting/issues/api.ts'
import { api as issueComments } from '#hosting/issues/comments/api.ts'
import { mountConversationStream } from '#hosting/issues/conversation-stream.ts'
import { api as issueEvents } from '#hosting/issues/events/api.ts'
import { api as ownIssues } from '#hosting/issues/own/api.ts'
import { api as keys } from '#hosting/keys/api.ts'
import { api as labels } from '#hosting/labels/api.ts'
import { mountLfs } from '#hosting/lfs/api.ts'
import { api as maintenanceApi } from '#hosting/maintenance/api.ts'
import { api as markdown } from '#hosting/markdown/api.ts'
import { renderAll } from '#hosting/mentions/rendering.ts'
import { api as merges } from '#hosting/merges/api.ts'
import { api as milestones } from '#hosting/milestones/api.ts'
import { api as organizationInvitations } from '#hosting/organization-invitations/api.ts'
import { api as organizations } from '#hosting/organizations/api.ts'
import { api as outsideCollaborators } from '#hosting/outside-collaborators/api.ts'
import { pathLoaders } from '#hosting/path-records.ts'
import { composePayloads } from '#hosting/payloads/compose-payloads.ts'
import { composeOrganizationPayloads } from '#hosting/payloads/organization-payload.ts'
import { api as people } from '#hosting/people/api.ts'
import { api as emails } from '#hosting/people/emails/api.ts'
import { reserveLogin } from '#hosting/people/people.ts'
import { api as protection } from '#hosting/protection/api.ts'
import { api as protectionLists } from '#hosting/protection/lists/api.ts'
import { api as pulls } from '#hosting/pulls/api.ts'
import { api as comparisons } from '#hosting/pulls/comparisons/api.ts'
import { api as reactions } from '#hosting/reactions/api.ts'
import { api as refs } from '#hosting/refs/api.ts'
import { api as releases } from '#hosting/releases/api.ts'
import { assetApi } from '#hosting/releases/assets/api.ts'
import { api as repositories } from '#hosting/repositories/api.ts'
import { api as generation } from '#hosting/repositories/generation/api.ts'
import { api as reviews } from '#hosting/reviews/api.ts'
import { api as reviewComments } from '#hosting/reviews/comments/api.ts'
import { api as reviewRequests } from '#hosting/reviews/requests/api.ts'
import { api as search } from '#hosting/search/api.ts'
import { api as statistics } from '#hosting/statistics/api.ts'
import { api as statuses } from '#hosting/statuses/api.ts'
import { api as teams } from '#hosting/teams/api.ts'
import { api as teamMembers } from '#hosting/teams/members/api.ts'
import { api as templates } from '#hosting/templates/api.ts'
import { api as topics } from '#hosting/topics/api.ts'
import { api as transfers } from '#hosting/transfers/api.ts'
import type { Group } from '#http/endpoint.ts'
import { mountGraphqlRefusal } from '#http/graphql.ts'
import { Metrics, mountHealth } from '#http/health.ts'
import { openListener } from '#http/listener.ts'
import { metaApi } from '#http/meta.ts'
import { mountApi } from '#http/mount.ts'
import type { RenderBodies } from '#http/rendered-bodies.ts'
import { RequestMeter } from '#http/request-meter.ts'
import { guardRoles } from '#http/role-guard.ts'
import { measurements } from '#measurements.ts'
import { api as auditLog } from '#parts/administration/api.ts'
import { appApi } from '#parts/apps/api.ts'
import { appHookApi } from '#parts/apps/hooks/api.ts'
import { api as appInstallations } from '#parts/apps/installations/api.ts'
import { api as ownInstallations } from '#parts/apps/installations/own/api.ts'
import { mountManifestForm } from '#parts/apps/pages.ts'
import { api as authorizations } from '#parts/authentication/api.ts'
import { lapsed } from '#parts/authentication/lapsed/pages.ts'
import { documentationPages } from '#parts/documentation/pages.ts'
import { feedApi } from '#parts/feeds/api.ts'
import { mountFeeds } from '#parts/feeds/pages.ts'
import { mountRepositoryFeeds } from '#parts/feeds/repository-feed-routes.ts'
import { mountHomeStream } from '#parts/home/pages.ts'
import { importApi } from '#parts/imports/api.ts'
import { mountImportStream } from '#parts/imports/pages.ts'
import { api as notifications } from '#parts/notifications/api.ts'
import { mountInboxStream } from '#parts/notifications/pages.ts'
import { countThreads } from '#parts/notifications/threads.ts'
import { api as oauth } from '#parts/oauth/api.ts'
import { mountTokenEndpoint } from '#parts/oauth/token-endpoint.ts'
import { api as starring } from '#parts/starring/api.ts'
import { api as timelines } from '#parts/timelines/api.ts'
import { api as watching } from '#parts/watching/api.ts'
import { webhookApi } from '#parts/webhooks/api.ts'
import { api as deliveries } from '#parts/webhooks/deliveries/api.ts'
import { mountDeliveryStream } from '#parts/webhooks/deliveries/pages.ts'
import { diagnosisApi } from '#parts/webhooks/diagnosis/api.ts'
import { listeningApi } from '#parts/webhooks/listening/api.ts'
import { api as replays } from '#parts/webhooks/replays/api.ts'
import { selfHosted, type Variant, versioned } from '#variants.ts'
import { mountAssets } from '#web/assets.ts'
import { mountAvatars } from '#web/avatars.ts'
import { mountEmojis } from '#web/emojis.ts'
import { mountFallbacks, showUnreadable } from '#web/fallbacks.ts'
import { mountPages, type Site } from '#web/page.ts'
import { PageCache } from '#web/page-cache.ts'
import { guardAnonymous } from './gate.ts'
import { assetFolders, pageRoutes } from './pages.ts'

/** Every endpoint, in the order of the API reference. */
export const apiGroups = (belfry: Belfry): Group[] => [
  metaApi(belfry),
  people,
  emails,
  organizations,
  organizationInvitations,
  outsideCollaborators,
  teams,
  teamMembers,
  repositories,
  generation,
  topics,
  contents,
  gitData,
  refs,
  protection,
  protectionLists,
  commits,
  merges,
  downloadApi(belfry),
  statistics,
  commitComments,
  releases,
  assetApi(belfry),
  statuses,
  checkRuns,
  checkSuites,
  deployments,
  issues,
  ownIssues,
  issueComments,
  issueEvents,
  pulls,
  comparisons,
  reviews,
  reviewComments,
  reviewRequests,
  labels,
  milestones,
  reactions,
  search,
  markdown,
  templates,
  collaborators,
  transfers,
  keys,
  timelines,
  feedApi(belfry),
  notifications,
  starring,
  watching,
  webhookApi(belfry),
  deliveries,
  replays,
  listeningApi(belfry),
  diagnosisApi(belfry),
  importApi(belfry),
  automation,
  authorizations,
  oauth,
  appApi(belfry),
  appInstallations,
  ownInstallations,
  appHookApi(belfry),
  administration,
  auditLog,
  maintenanceApi,
  absent,
]

// When the program is loaded: a start records pushes before it opens listeners.
setPayloadComposer(composePayloads)
setOrganizationPayloadComposer(composeOrganizationPayloads)

export interface App {
  web: FastifyInstance
  versioned: FastifyInstance
  meter: RequestMeter
  /** Makes `/readyz` report the shutdown. Call this before the listeners close. */
  announceStop(): void
}

/** Mounts everything on two listeners: pages, git and the self-hosted variant on one, the versioned variant on the other. */
export async function openApp(belfry: Belfry): Promise<App> {
  const groups = apiGroups(belfry)
  const metrics = new Metrics(belfry, measurements(belfry))
  const meter = new RequestMeter()
  const maintenance = new MaintenanceState(belfry.db)
  const site: Site = {
    belfry,
    findNotice: async () => (await maintenance.find())?.message,
    countUnread: (db, visitor, most) => countThreads(db, visitor, { view: 'unread' }, most),
    lapsed,
    cache: new PageCache(belfry.db),
  }
  knowAddress(belfry.db, () => belfry.addresses.web)
  let stopping = false
  const listeners = {
    web: openListener(belfry, selfHosted.prefix, (request, reply) => showUnreadable(site, request, reply)),
    versioned: openListener(belfry, versioned.prefix),
  }
  guardRoles(listeners, belfry.settings.BELFRY_ROLES)
  listeners.web.addHook('onRoute', ({ url }) => reserveLogin(url))
  for (const [name, listener] of Object.entries(listeners)) {
    metrics.observe(listener, name as keyof typeof listeners)
    meter.observe(listener, belfry.db)
    mountHealth(listener, belfry, () => stopping)
    guardWrites(listener, maintenance)
  }
  guardAnonymous(listeners.web, belfry)
  mountFallbacks(listeners.web, site)
  await mountAssets(listeners.web, assetFolders)
  mountAvatars(listeners.web)
  mountEmojis(listeners.web)
  mountPages(listeners.web, site, [...pageRoutes, ...documentationPages(belfry, groups, listeners)])
  mountTokenEndpoint(listeners.web, belfry)
  mountManifestForm(listeners.web)
  mountHomeStream(listeners.web, belfry)
  mountInboxStream(listeners.web, belfry)
  mountConversationStream(listeners.web, belfry)
  mountDeliveryStream(listeners.web, belfry)
  mountImportStream(listeners.web, belfry)
  mountFeeds(listeners.web, site, withSettings(selfHosted, belfry))
  mountRepositoryFeeds(listeners.web, site)
  mountGit(listeners.web, belfry)
  mountLfs(listeners.web, belfry)
  metrics.mount(listeners.web, belfry)
  mountGraphqlRefusal(listeners.web, '/api/graphql', belfry)
  mountGraphqlRefusal(listeners.versioned, '/graphql', belfry)
  for (const [listener, variant] of [
    [listeners.web, selfHosted],
    [listeners.versioned, versioned],
  ] as const) {
    mountApi(listener, belfry, withSettings(variant, belfry), groups, pathLoaders, renderBodies)
  }
  return {
    ...listeners,
    meter,
    announceStop: () => {
      stopping = true
    },
  }
}

/** Links are absolute, because clients show the texts elsewhere. */
const renderBodies: RenderBodies = async ({ caller, wire, db, repo }, texts) => {
  const reader = { db, viewer: caller, repo, web: wire.web }
  return (await renderAll(reader, texts)).map(({ text }) => text)
}

function withSettings(variant: Variant, { settings }: Belfry): Variant {
  const { BELFRY_PUBLIC_EVENTS_DELAY: public_delay } = settings
  return public_delay === null ? variant : { ...variant, events: { ...variant.events, public_delay } }
}
