import {
  isRepositoryEvent,
  type OrganizationWebhookName,
  organizationWebhookNames,
  type WebhookName,
  webhookNames,
} from '#activity/acts.ts'
import { invalid } from '#platform/errors.ts'
import { Type } from '#platform/schema.ts'
import type { HookTarget } from './hook-target.ts'

/** `ping` and `meta` are about a hook itself and do not follow from an act. */
export type EmittedEvent = WebhookName | OrganizationWebhookName | 'meta' | 'ping'

const emittedEvents: EmittedEvent[] = [
  ...new Set([...webhookNames, ...organizationWebhookNames.filter(isRepositoryEvent), 'meta' as const, 'ping' as const]),
]

/** Events that clients may subscribe to, although Belfry never sends them. */
const acceptedEvents =
  `branch_protection_configuration bypass_request_secret_scanning cache_sync code_scanning_alert custom_property_values
  dependabot_alert discussion discussion_comment dismissal_request_code_scanning dismissal_request_secret_scanning
  exemption_request_push_ruleset gollum issue_dependencies package page_build project project_card project_column
  pull_request_review_thread registry_package repository_advisory repository_ruleset repository_vulnerability_alert
  secret_scanning_alert secret_scanning_alert_location secret_scanning_scan security_and_analysis sub_issues workflow_job
  workflow_run`.split(/\s+/)

/** Events of an organization itself that Belfry never sends. */
const acceptedOrganizationEvents =
  `custom_property org_block personal_access_token_request projects_v2 projects_v2_item projects_v2_status_update`.split(/\s+/)

const organizationEvents = [
  ...organizationWebhookNames.filter((event) => !isRepositoryEvent(event)),
  ...acceptedOrganizationEvents,
]
const repositoryEvents = [...emittedEvents, ...acceptedEvents]
const allowedEvents: Record<HookTarget['type'], readonly string[]> = {
  repository: repositoryEvents,
  organization: [...repositoryEvents, ...organizationEvents],
  integration: [...repositoryEvents, ...organizationEvents],
}

/** Expands `*` to all events. */
export function subscribedEvents(events: string[], type: HookTarget['type']): readonly string[] {
  return events.includes('*') ? allowedEvents[type] : events
}

export function checkEvents(events: string[], type: HookTarget['type']) {
  const unknown = events.filter((event) => event !== '*' && !allowedEvents[type].includes(event))
  if (!unknown.length) return
  const message = `These events are not allowed for this hook: ${[...new Set(unknown)].join(', ')}`
  throw invalid({ resource: 'Hook', code: 'custom', field: 'events', message })
}

export const EventsSchema = Type.Array(Type.String({ maxLength: 100 }), { maxItems: 250 })

type EventChanges = Partial<Record<'events' | 'add_events' | 'remove_events', string[]>>

/** `events` replaces the list before `add_events` and `remove_events` apply. */
export function changeEvents(current: string[], { events = current, add_events = [], remove_events = [] }: EventChanges) {
  return [...new Set([...events, ...add_events])].filter((event) => !remove_events.includes(event))
}
