import { type AppPermissions, isAppPermission } from '#identity/permissions.ts'
import { invalid } from '#platform/errors.ts'

/** For each event that an app can subscribe to: the permissions of which it needs one. */
const needed: Record<string, string[]> = {
  ...each('contents', 'commit_comment create delete fork gollum push release repository_dispatch'),
  ...each('issues pull_requests', 'issue_comment label milestone'),
  ...each('issues', 'issue_dependencies issues sub_issues'),
  ...each('pull_requests', 'pull_request pull_request_review pull_request_review_comment pull_request_review_thread'),
  ...each('metadata', 'member meta public repository star watch repository_import'),
  ...each('administration', 'branch_protection_configuration branch_protection_rule deploy_key repository_ruleset'),
  ...each('members', 'membership organization team team_add'),
  ...each('organization_administration', 'org_block'),
  ...each('statuses', 'status'),
  ...each('checks', 'check_run check_suite'),
  ...each('deployments', 'deployment deployment_status'),
  ...each('actions', 'workflow_dispatch workflow_job workflow_run'),
  ...each('discussions', 'discussion discussion_comment'),
  ...each('pages', 'page_build'),
  ...each('packages', 'package registry_package'),
  ...each('security_events', 'code_scanning_alert'),
  ...each('vulnerability_alerts', 'dependabot_alert repository_vulnerability_alert'),
  ...each('secret_scanning_alerts', 'secret_scanning_alert secret_scanning_alert_location'),
}

function each(permissions: string, events: string) {
  return Object.fromEntries(events.split(' ').map((event) => [event, permissions.split(' ')]))
}

/** Sent to every app, also if a manifest does not name them. */
const always = new Set(['installation', 'installation_repositories', 'installation_target', 'github_app_authorization', 'ping'])

/** An event may be named `constructor`, which every object has. */
const isIncluded = (event: string, permissions: AppPermissions) =>
  Object.hasOwn(needed, event) &&
  (needed[event]?.some((name) => name === 'metadata' || Object.hasOwn(permissions, name)) ?? false)

/** The permissions of which an app needs one to subscribe to the event. None for an event that no permission includes. */
export const permissionsOfEvent = (event: string) => (Object.hasOwn(needed, event) ? (needed[event] ?? []) : [])

/** An event shows records, so an app can subscribe to it only if it may read them. */
export function checkAppEvents(events: string[], permissions: AppPermissions): string[] {
  const wanted = [...new Set(events)].filter((event) => !always.has(event))
  const refused = wanted.filter((event) => !isIncluded(event, permissions))
  if (refused.length) {
    const message = `Default events unsupported: ${refused.join(', ')}. Request a permission that includes them.`
    throw invalid({ resource: 'Integration', code: 'invalid', field: 'events', message })
  }
  return wanted.sort()
}

/** Of the events of an app, those that permissions include. */
export const eventsWithin = (events: string[], permissions: AppPermissions) =>
  events.filter((event) => isIncluded(event, permissions))

/** Every app may read the metadata of the repositories that it is installed on. */
export function checkAppPermissions(given: Record<string, string>): AppPermissions {
  const asked = Object.entries(given).filter(([, level]) => level !== 'none')
  const unknown = asked.filter(([name, level]) => !isAppPermission(name) || !['read', 'write', 'admin'].includes(level))
  if (unknown.length) {
    const message = `There is no permission ${unknown.map(([name, level]) => `${name}:${level}`).join(', ')}`
    throw invalid({ resource: 'Integration', code: 'invalid', field: 'permissions', message })
  }
  const known = Object.fromEntries(asked) as AppPermissions
  return Object.fromEntries(Object.entries({ ...known, metadata: 'read' as const }).sort())
}
