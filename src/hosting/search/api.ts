import { writeCommits } from '#hosting/refs/commits.ts'
import { loadRepositoryById } from '#hosting/repositories/repositories.ts'
import { Answer, type BaseContext, get, group } from '#http/endpoint.ts'
import { choice, readSince, text } from '#http/input.ts'
import { Type } from '#platform/schema.ts'
import { searchCode, searchCommits } from './contents.ts'
import { searchIssues } from './issues.ts'
import {
  FoundCommitFields,
  FoundFileFields,
  FoundIssueFields,
  FoundLabelFields,
  FoundRepositoryFields,
  FoundTopicFields,
  FoundUserFields,
  foundCommitJson,
  foundFileJson,
  foundIssueJson,
  foundLabelJson,
  foundRepositoryJson,
  foundTopicJson,
  foundUserJson,
  resultsOf,
} from './json.ts'
import { searchLabels, searchTopics } from './names.ts'
import { searchRepositories } from './repositories.ts'
import { mostResults, type Results, searcherOf, sliceOf } from './results.ts'
import { searchUsers } from './users.ts'

const searching = { viewer: 'optional', optional_scopes: ['repo'], list: true, refuses: ['invalid'] } as const
const ordered = { q: text(), sort: text(), order: choice('desc', 'asc') }

/** A page of results. Links lead to the thousandth result at most. */
function found<Item>({ total, incomplete = false }: Results<unknown>, items: Item[]) {
  const body = { total_count: total, incomplete_results: incomplete, items }
  return new Answer(body, { total: Math.min(total, mostResults) })
}

/** Undefined unless the client accepts the media type `text-match`. */
const termsFor = ({ dialect }: Pick<BaseContext, 'dialect'>, { terms }: Results<unknown>) =>
  dialect.media.has('text-match') ? terms : undefined

const FoundIssues = resultsOf(FoundIssueFields, 'IssueSearchResult')

export const api = group('Search', [
  get(
    '/search/issues',
    {
      ...searching,
      operation: 'search/issues-and-pull-requests',
      permission: 'issues:read',
      summary: 'Search issues and pull requests',
      query: ordered,
      answers: { 200: Type.Object({ ...FoundIssues.properties, search_type: Type.String() }) },
    },
    async ({ db, caller, query, page, wire, dialect }) => {
      const viewer = searcherOf(caller, 'issues:read', 'pull_requests:read')
      const results = await searchIssues(db, viewer, query.q, query, sliceOf(page))
      const terms = termsFor({ dialect }, results)
      const answer = found(
        results,
        results.rows.map((row) => foundIssueJson(row, terms, wire)),
      )
      return new Answer({ ...answer.body, search_type: 'lexical' }, { total: answer.total ?? 0 })
    },
  ),
  get(
    '/search/repositories',
    {
      ...searching,
      operation: 'search/repos',
      permission: 'metadata:read',
      summary: 'Search repositories by name, description and topics',
      query: ordered,
      answers: { 200: resultsOf(FoundRepositoryFields, 'RepositorySearchResult') },
    },
    async ({ db, caller, query, page, wire, dialect }) => {
      const results = await searchRepositories(db, searcherOf(caller, 'metadata:read'), query.q, query, sliceOf(page))
      const terms = termsFor({ dialect }, results)
      return found(
        results,
        results.rows.map((row) => foundRepositoryJson(row, terms, wire, caller.user !== null)),
      )
    },
  ),
  get(
    '/search/users',
    {
      ...searching,
      operation: 'search/users',
      permission: 'any',
      summary: 'Search users and organizations by login and name',
      query: ordered,
      answers: { 200: resultsOf(FoundUserFields, 'UserSearchResult') },
    },
    async ({ db, query, page, wire, dialect }) => {
      const results = await searchUsers(db, query.q, query, sliceOf(page))
      const terms = termsFor({ dialect }, results)
      return found(
        results,
        results.rows.map((row) => foundUserJson(row, terms, wire)),
      )
    },
  ),
  get(
    '/search/labels',
    {
      ...searching,
      operation: 'search/labels',
      permission: 'issues:read',
      summary: 'Search the labels of a repository',
      query: { ...ordered, repository_id: text() },
      refuses: ['invalid', 'missing'],
      answers: { 200: resultsOf(FoundLabelFields, 'LabelSearchResult') },
    },
    async ({ db, caller, query, page, wire, dialect }) => {
      const repo = await loadRepositoryById(db, searcherOf(caller, 'issues:read'), readSince(query.repository_id))
      const results = await searchLabels(db, repo, query.q, query, sliceOf(page))
      const terms = termsFor({ dialect }, results)
      return found(
        results,
        results.rows.map((row) => foundLabelJson(row, repo, terms, wire)),
      )
    },
  ),
  get(
    '/search/topics',
    {
      ...searching,
      operation: 'search/topics',
      permission: 'metadata:read',
      summary: 'Search the topics of repositories',
      query: { q: text() },
      answers: { 200: resultsOf(FoundTopicFields, 'TopicSearchResult') },
    },
    async ({ db, caller, query, page }) => {
      const results = await searchTopics(db, searcherOf(caller, 'metadata:read'), query.q, sliceOf(page))
      return found(results, results.rows.map(foundTopicJson))
    },
  ),
  get(
    '/search/commits',
    {
      ...searching,
      operation: 'search/commits',
      permission: 'contents:read',
      summary: 'Search the messages of commits on the default branch of one repository',
      query: ordered,
      answers: { 200: resultsOf(FoundCommitFields, 'CommitSearchResult') },
    },
    async ({ db, storage, caller, query, page, wire, dialect }) => {
      const results = await searchCommits(db, storage, searcherOf(caller, 'contents:read'), query.q, query, sliceOf(page))
      const terms = termsFor({ dialect }, results)
      const commits = await writeCommits(db, results.rows, results.repo, wire)
      return found(
        results,
        commits.map((commit) => foundCommitJson(commit, results.repo, terms, wire)),
      )
    },
  ),
  get(
    '/search/code',
    {
      ...searching,
      operation: 'search/code',
      permission: 'contents:read',
      summary: 'Search the text files on the default branch of one repository',
      query: ordered,
      answers: { 200: resultsOf(FoundFileFields, 'CodeSearchResult') },
    },
    async ({ db, storage, caller, query, page, wire, dialect }) => {
      const viewer = searcherOf(caller, 'contents:read')
      const results = await searchCode(db, storage, viewer, query.q, sliceOf(page), dialect.media.has('text-match'))
      const terms = termsFor({ dialect }, results)
      return found(
        results,
        results.rows.map((row) => foundFileJson(row, results, terms, wire)),
      )
    },
  ),
])
