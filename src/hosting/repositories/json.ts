import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { NullableLicense, repositoryLicenseJson } from '#hosting/templates/json.ts'
import {
  Address,
  NullableString,
  NullableTimestamp,
  nodeId,
  specified,
  Timestamp,
  timestamp,
  type Wire,
} from '#http/serialization.ts'
import { permissionsOf } from '#identity/access.ts'
import { type Static, Type } from '#platform/schema.ts'
import type { Repository, RepositoryName } from './repositories.ts'

const minimal = {
  id: Type.Integer(),
  node_id: Type.String(),
  name: Type.String(),
  full_name: Type.String(),
  owner: SimpleUser,
  private: Type.Boolean(),
  html_url: Address,
  description: NullableString,
  fork: Type.Boolean(),
  url: Address,
  archive_url: Address,
  assignees_url: Address,
  blobs_url: Address,
  branches_url: Address,
  collaborators_url: Address,
  comments_url: Address,
  commits_url: Address,
  compare_url: Address,
  contents_url: Address,
  contributors_url: Address,
  deployments_url: Address,
  downloads_url: Address,
  events_url: Address,
  forks_url: Address,
  git_commits_url: Address,
  git_refs_url: Address,
  git_tags_url: Address,
  git_url: Address,
  issue_comment_url: Address,
  issue_events_url: Address,
  issues_url: Address,
  keys_url: Address,
  labels_url: Address,
  languages_url: Address,
  merges_url: Address,
  milestones_url: Address,
  notifications_url: Address,
  pulls_url: Address,
  releases_url: Address,
  ssh_url: Address,
  stargazers_url: Address,
  statuses_url: Address,
  subscribers_url: Address,
  subscription_url: Address,
  tags_url: Address,
  teams_url: Address,
  trees_url: Address,
  hooks_url: Address,
}

export const MinimalRepository = Type.Object(minimal, { title: 'MinimalRepository' })

export function ownerOf(repo: RepositoryName) {
  return { id: repo.owner_id, login: repo.owner_login, type: repo.owner_type, site_admin: repo.owner_site_admin }
}

export function minimalRepositoryJson(repo: RepositoryName, wire: Wire): Static<typeof MinimalRepository> {
  const full_name = `${repo.owner_login}/${repo.name}`
  const url = `${wire.api}/repos/${full_name}`
  const host = wire.web.slice(wire.web.indexOf('://') + 3)
  return {
    id: repo.id,
    node_id: nodeId('Repository', repo.id),
    name: repo.name,
    full_name,
    owner: userJson(ownerOf(repo), wire),
    private: repo.private,
    html_url: `${wire.web}/${full_name}`,
    description: repo.description,
    fork: repo.parent_id !== null,
    url,
    archive_url: `${url}/{archive_format}{/ref}`,
    assignees_url: `${url}/assignees{/user}`,
    blobs_url: `${url}/git/blobs{/sha}`,
    branches_url: `${url}/branches{/branch}`,
    collaborators_url: `${url}/collaborators{/collaborator}`,
    comments_url: `${url}/comments{/number}`,
    commits_url: `${url}/commits{/sha}`,
    compare_url: `${url}/compare/{base}...{head}`,
    contents_url: `${url}/contents/{+path}`,
    contributors_url: `${url}/contributors`,
    deployments_url: `${url}/deployments`,
    downloads_url: `${url}/downloads`,
    events_url: `${url}/events`,
    forks_url: `${url}/forks`,
    git_commits_url: `${url}/git/commits{/sha}`,
    git_refs_url: `${url}/git/refs{/sha}`,
    git_tags_url: `${url}/git/tags{/sha}`,
    git_url: `git://${host}/${full_name}.git`,
    issue_comment_url: `${url}/issues/comments{/number}`,
    issue_events_url: `${url}/issues/events{/number}`,
    issues_url: `${url}/issues{/number}`,
    keys_url: `${url}/keys{/key_id}`,
    labels_url: `${url}/labels{/name}`,
    languages_url: `${url}/languages`,
    merges_url: `${url}/merges`,
    milestones_url: `${url}/milestones{/number}`,
    notifications_url: `${url}/notifications{?since,all,participating}`,
    pulls_url: `${url}/pulls{/number}`,
    releases_url: `${url}/releases{/id}`,
    ssh_url: `git@${host.replace(/:\d+$/, '')}:${full_name}.git`,
    stargazers_url: `${url}/stargazers`,
    statuses_url: `${url}/statuses/{sha}`,
    subscribers_url: `${url}/subscribers`,
    subscription_url: `${url}/subscription`,
    tags_url: `${url}/tags`,
    teams_url: `${url}/teams`,
    trees_url: `${url}/git/trees{/sha}`,
    hooks_url: `${url}/hooks`,
  }
}

export const Permissions = Type.Object({
  admin: Type.Boolean(),
  maintain: Type.Boolean(),
  push: Type.Boolean(),
  triage: Type.Boolean(),
  pull: Type.Boolean(),
})

const listedFields = {
  ...minimal,
  clone_url: Address,
  mirror_url: NullableString,
  svn_url: Address,
  homepage: NullableString,
  language: NullableString,
  forks_count: Type.Integer(),
  forks: Type.Integer(),
  stargazers_count: Type.Integer(),
  watchers_count: Type.Integer(),
  watchers: Type.Integer(),
  size: Type.Integer(),
  default_branch: Type.String(),
  open_issues_count: Type.Integer(),
  open_issues: Type.Integer(),
  is_template: Type.Boolean(),
  topics: Type.Array(Type.String()),
  has_issues: Type.Boolean(),
  has_projects: Type.Boolean(),
  has_wiki: Type.Boolean(),
  has_pages: Type.Boolean(),
  has_downloads: Type.Boolean(),
  has_discussions: Type.Boolean(),
  archived: Type.Boolean(),
  disabled: Type.Boolean(),
  visibility: Type.String(),
  license: NullableLicense,
  pushed_at: NullableTimestamp,
  created_at: Timestamp,
  updated_at: Timestamp,
  permissions: Type.Optional(Permissions),
  allow_rebase_merge: Type.Boolean(),
  allow_squash_merge: Type.Boolean(),
  allow_merge_commit: Type.Boolean(),
  allow_forking: Type.Boolean(),
  web_commit_signoff_required: Type.Boolean(),
  anonymous_access_enabled: Type.Boolean(),
  subscribers_count: Type.Integer(),
  template_repository: Type.Null(),
}

export const RepositorySchema = Type.Object(listedFields, { title: 'Repository' })

export const NullableRepository = Type.Unsafe<Static<typeof RepositorySchema> | null>({
  ...RepositorySchema,
  title: 'NullableRepository',
  nullable: true,
})

/** `personal` is false without a caller, as in webhooks and events: then there are no permissions to show. */
export function repositoryJson(repo: Repository, wire: Wire, personal: boolean): Static<typeof RepositorySchema> {
  const short = minimalRepositoryJson(repo, wire)
  return {
    ...short,
    clone_url: `${short.html_url}.git`,
    mirror_url: specified<string>(null, '', wire),
    svn_url: short.html_url,
    homepage: specified(repo.homepage, '', wire),
    language: repo.language,
    forks_count: repo.forks_count,
    forks: repo.forks_count,
    stargazers_count: repo.stargazers_count,
    watchers_count: repo.stargazers_count,
    watchers: repo.stargazers_count,
    size: repo.size,
    default_branch: repo.default_branch,
    open_issues_count: repo.open_issues_count,
    open_issues: repo.open_issues_count,
    is_template: repo.is_template,
    topics: repo.topics,
    has_issues: repo.has_issues,
    has_projects: repo.has_projects,
    has_wiki: repo.has_wiki,
    has_pages: false,
    has_downloads: true,
    has_discussions: false,
    archived: repo.archived,
    disabled: false,
    visibility: repo.private ? 'private' : 'public',
    license: repositoryLicenseJson(repo.license, wire),
    pushed_at: repo.pushed_at && timestamp(repo.pushed_at),
    created_at: timestamp(repo.created_at),
    updated_at: timestamp(repo.updated_at),
    ...(personal && { permissions: permissionsOf(repo.access) }),
    allow_rebase_merge: repo.allow_rebase_merge,
    allow_squash_merge: repo.allow_squash_merge,
    allow_merge_commit: repo.allow_merge_commit,
    allow_forking: repo.allow_forking,
    web_commit_signoff_required: false,
    anonymous_access_enabled: !repo.private,
    subscribers_count: repo.subscribers_count,
    template_repository: null,
  }
}

export const FullRepository = Type.Object(
  {
    ...listedFields,
    organization: Type.Optional(SimpleUser),
    parent: Type.Optional(RepositorySchema),
    source: Type.Optional(RepositorySchema),
    template_repository: NullableRepository,
    network_count: Type.Integer(),
  },
  { title: 'FullRepository' },
)

export interface Relations {
  network_count: number
  ancestors: { parent: Repository; source: Repository } | undefined
  template: Repository | undefined
}

export function fullRepositoryJson(
  repo: Repository,
  { network_count, ancestors, template }: Relations,
  wire: Wire,
): Static<typeof FullRepository> {
  return {
    ...repositoryJson(repo, wire, true),
    ...(repo.owner_type === 'Organization' && { organization: userJson(ownerOf(repo), wire) }),
    ...(ancestors && {
      parent: repositoryJson(ancestors.parent, wire, true),
      source: repositoryJson(ancestors.source, wire, true),
    }),
    template_repository: template ? repositoryJson(template, wire, true) : null,
    network_count,
  }
}
