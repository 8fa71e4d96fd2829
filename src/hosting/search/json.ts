import { IssueSchema, issueJson } from '#hosting/issues/json.ts'
import { LabelSchema, labelJson } from '#hosting/labels/json.ts'
import type { Label } from '#hosting/labels/labels.ts'
import { NullableUser } from '#hosting/milestones/json.ts'
import { SimpleUser, userJson } from '#hosting/people/json.ts'
import { Commit, encodePath } from '#hosting/refs/json.ts'
import { MinimalRepository, minimalRepositoryJson, RepositorySchema, repositoryJson } from '#hosting/repositories/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Address, NullableString, Timestamp, timestamp, type Wire } from '#http/serialization.ts'
import type { Account } from '#identity/accounts.ts'
import { type Static, type TSchema, Type } from '#platform/schema.ts'
import type { FoundFile, FoundFiles } from './contents.ts'
import type { FoundIssue } from './issues.ts'
import type { Topic } from './names.ts'
import { TextMatches, textMatches } from './text-matches.ts'

const scored = { score: Type.Unsafe<number>({ type: 'number' }), text_matches: Type.Optional(TextMatches) }

/** The schema of a page of results. */
export const resultsOf = <Fields extends Record<string, TSchema>>(item: Fields, title: string) =>
  Type.Object({
    total_count: Type.Integer(),
    incomplete_results: Type.Boolean(),
    items: Type.Array(Type.Object({ ...item, ...scored }, { title })),
  })

/** The terms of the search when the client accepts `text-match`; otherwise undefined. */
export type Terms = string[] | undefined

function matchesOf(terms: Terms, object: { url: string; type: string }, texts: Record<string, string | null>) {
  return terms ? { text_matches: textMatches(object, texts, terms) } : {}
}

export const FoundIssueFields = { ...IssueSchema.properties, assignee: NullableUser }

export function foundIssueJson({ issue, repo, score }: FoundIssue, terms: Terms, wire: Wire) {
  const json = issueJson(issue, repo, wire)
  return {
    ...json,
    assignee: json.assignees[0] ?? null,
    // The documentation has a string.
    body: issue.body ?? '',
    score,
    ...matchesOf(terms, { url: json.url, type: 'Issue' }, { title: issue.title, body: issue.body }),
  }
}

export const FoundRepositoryFields = RepositorySchema.properties

export function foundRepositoryJson(repo: Repository & { score: number }, terms: Terms, wire: Wire, personal: boolean) {
  const json = repositoryJson(repo, wire, personal)
  const texts = { name: repo.name, description: repo.description }
  return { ...json, score: repo.score, ...matchesOf(terms, { url: json.url, type: 'Repository' }, texts) }
}

export const FoundUserFields = SimpleUser.properties

export function foundUserJson(user: Account, terms: Terms, wire: Wire) {
  const json = userJson(user, wire)
  return { ...json, score: 1, ...matchesOf(terms, { url: json.url, type: user.type }, { login: user.login, name: user.name }) }
}

export const FoundLabelFields = LabelSchema.properties

export function foundLabelJson(label: Label, repo: Repository, terms: Terms, wire: Wire) {
  const json = labelJson(label, repo, wire)
  const texts = { name: label.name, description: label.description }
  return { ...json, score: 1, ...matchesOf(terms, { url: json.url, type: 'Label' }, texts) }
}

export const FoundTopicFields = {
  name: Type.String(),
  display_name: NullableString,
  short_description: NullableString,
  description: NullableString,
  created_by: NullableString,
  released: NullableString,
  created_at: Timestamp,
  updated_at: Timestamp,
  featured: Type.Boolean(),
  curated: Type.Boolean(),
  repository_count: Type.Integer(),
}

/** Nobody describes or curates topics here. */
export function foundTopicJson(topic: Topic) {
  return {
    name: topic.name,
    display_name: null,
    short_description: null,
    description: null,
    created_by: null,
    released: null,
    created_at: timestamp(topic.created_at),
    updated_at: timestamp(topic.updated_at),
    featured: false,
    curated: false,
    repository_count: topic.repository_count,
    score: 1,
  }
}

export const FoundCommitFields = { ...Commit.properties, repository: MinimalRepository }

export function foundCommitJson(json: Static<typeof Commit>, repo: Repository, terms: Terms, wire: Wire) {
  return {
    ...json,
    repository: minimalRepositoryJson(repo, wire),
    score: 1,
    ...matchesOf(terms, { url: json.url, type: 'Commit' }, { message: json.commit.message }),
  }
}

export const FoundFileFields = {
  name: Type.String(),
  path: Type.String(),
  sha: Type.String(),
  url: Address,
  git_url: Address,
  html_url: Address,
  repository: MinimalRepository,
}

export function foundFileJson({ path, sha, lines }: FoundFile, { repo, head }: FoundFiles, terms: Terms, wire: Wire) {
  const full_name = `${repo.owner_login}/${repo.name}`
  const above = `${wire.api}/repos/${full_name}`
  const url = `${above}/contents/${encodePath(path)}?ref=${head}`
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    sha,
    url,
    git_url: `${above}/git/blobs/${sha}`,
    html_url: `${wire.web}/${full_name}/blob/${head}/${encodePath(path)}`,
    repository: minimalRepositoryJson(repo, wire),
    score: 1,
    ...matchesOf(terms, { url, type: 'FileContent' }, { content: lines, path }),
  }
}
