import {
  address,
  anyObject,
  each,
  either,
  exactly,
  flag,
  integer,
  listOf,
  matching,
  nullable,
  number,
  record,
  type Shape,
  text,
  time,
  words,
} from './shape.ts'

/** The resources of the specification: field by field, in its order. */

export const user = record({
  ...each('login node_id type', words),
  id: integer,
  ...each('avatar_url url html_url followers_url following_url gists_url starred_url subscriptions_url', address),
  ...each('organizations_url repos_url events_url received_events_url', address),
  gravatar_id: text,
  site_admin: flag,
})

const repositoryFields: Record<string, Shape> = {
  id: integer,
  ...each('node_id name full_name', words),
  owner: user,
  ...each('private fork', flag),
  html_url: address,
  description: text,
  url: address,
  ...each('archive_url assignees_url blobs_url branches_url collaborators_url comments_url commits_url compare_url', address),
  ...each('contents_url contributors_url deployments_url downloads_url events_url forks_url git_commits_url', address),
  ...each('git_refs_url git_tags_url git_url issue_comment_url issue_events_url issues_url keys_url labels_url', address),
  ...each('languages_url merges_url milestones_url notifications_url pulls_url releases_url ssh_url stargazers_url', address),
  ...each('statuses_url subscribers_url subscription_url tags_url teams_url trees_url hooks_url', address),
}

/** As notifications show it. */
export const shortRepository = record(repositoryFields)

/** As the lists of starred repositories show it. `has_downloads` is gone in the version 2026-03-10 only. */
export const repository = record({
  ...repositoryFields,
  ...each('clone_url svn_url', address),
  ...each('mirror_url homepage', text),
  language: nullable(text),
  ...each('forks_count stargazers_count watchers_count size open_issues_count subscribers_count network_count', integer),
  default_branch: words,
  topics: listOf(text),
  ...each('is_template has_issues has_projects has_wiki has_pages has_downloads archived disabled', flag),
  ...each('allow_rebase_merge allow_squash_merge allow_merge_commit anonymous_access_enabled', flag),
  ...each('pushed_at created_at updated_at', time),
  permissions: record(each('admin push pull', flag)),
  template_repository: nullable(anyObject),
})

const payloads: Record<string, Shape> = {
  WatchEvent: record({ action: exactly('started') }),
  PushEvent: record({
    ...each('repository_id push_id', integer),
    ref: matching(/^refs\//),
    ...each('head before', matching(/^([0-9a-f]{40}|[0-9a-f]{64})$/)),
  }),
  CreateEvent: record({ ...each('ref ref_type full_ref master_branch pusher_type', text), description: nullable(text) }),
}

const envelope = record({
  id: words,
  type: words,
  actor: record({ id: integer, ...each('login display_login', words), gravatar_id: text, ...each('url avatar_url', address) }),
  repo: record({ id: integer, name: matching(/^[^/]+\/[^/]+$/), url: address }),
  payload: anyObject,
  public: flag,
  created_at: time,
  'org?': record({ id: integer, login: words, gravatar_id: text, ...each('url avatar_url', address) }),
})

/** The payload is checked for the types whose fields the specification lists. */
export const event: Shape = (value) => {
  const wrong = envelope(value)
  if (wrong) return wrong
  const { type, payload } = value as { type: string; payload: unknown }
  const problem = payloads[type]?.(payload)
  return problem && { ...problem, path: `.payload${problem.path}` }
}

export const reasons = [
  ...['assign', 'author', 'comment', 'invitation', 'manual', 'mention', 'review_requested', 'state_change', 'subscribed'],
  'team_mention',
]

export const thread = record({
  id: words,
  repository: shortRepository,
  subject: record({ title: text, url: address, latest_comment_url: address, type: words }),
  reason: exactly(...reasons),
  unread: flag,
  updated_at: time,
  last_read_at: time,
  url: address,
})

export const threadSubscription = record({
  ...each('subscribed ignored', flag),
  reason: nullable(text),
  created_at: time,
  ...each('url thread_url', address),
})

const feedLink = record({ href: text, type: text })

export const feedLinks = record({
  ...each('timeline user', feedLink),
  ...each('current_user_public? current_user? current_user_actor? current_user_organization?', feedLink),
  'current_user_organizations?': listOf(feedLink),
})

/** Private feeds are listed for callers with Basic authentication only. */
export const feeds = record({
  ...each('timeline_url user_url', address),
  ...each('current_user_public_url? current_user_url? current_user_actor_url? current_user_organization_url?', text),
  'current_user_organization_urls?': listOf(text),
  _links: listOf(feedLinks),
})

export const hook = record({
  type: exactly('Repository'),
  id: integer,
  name: exactly('web'),
  active: flag,
  events: listOf(text),
  config: record({ content_type: text, insecure_ssl: text, url: text }),
  ...each('created_at updated_at', time),
  ...each('url test_url ping_url deliveries_url', address),
  last_response: nullable(record({ code: nullable(integer), status: text, message: nullable(text) })),
})

export const hookConfig = record({ ...each('content_type url', text), insecure_ssl: either(text, number), 'secret?': text })

const deliveryFields: Record<string, Shape> = {
  id: integer,
  guid: words,
  delivered_at: time,
  redelivery: flag,
  duration: number,
  status: text,
  status_code: integer,
  event: words,
  action: text,
  ...each('installation_id repository_id', integer),
  throttled_at: nullable(time),
}

export const delivery = record(deliveryFields)

export const wholeDelivery = record({
  ...deliveryFields,
  url: text,
  request: record({ headers: anyObject, payload: anyObject }),
  response: record({ headers: anyObject, payload: text }),
})

export const importStatuses = [
  ...['detecting', 'importing', 'mapping', 'pushing', 'complete'],
  ...['auth_failed', 'error', 'detection_needs_auth', 'detection_found_nothing', 'detection_found_multiple'],
]

export const sourceImport = record({
  vcs: text,
  vcs_url: text,
  'use_lfs?': either(exactly('opt_in', 'opt_out', 'undecided'), flag),
  status: exactly(...importStatuses),
  'status_text?': text,
  ...each('has_large_files?', flag),
  ...each('large_files_size? large_files_count?', integer),
  ...each('authors_count? commit_count? percent? push_percent?', integer),
  ...each('failed_step? message?', text),
  'project_choices?': listOf(anyObject),
  ...each('url html_url authors_url repository_url', address),
})

/** Fields that an import has when it is complete. */
export const completeImport: Shape = (value) =>
  sourceImport(value) ??
  record({
    use_lfs: either(text, flag),
    status: exactly('complete'),
    status_text: text,
    has_large_files: flag,
    ...each('large_files_size large_files_count authors_count', integer),
  })(value)

export const importAuthor = record({
  id: integer,
  ...each('remote_id remote_name email name', text),
  ...each('url import_url', address),
})
