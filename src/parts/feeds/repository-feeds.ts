import type { Belfry } from '#belfry.ts'
import { readingOf } from '#git/compare.ts'
import { runGit, within } from '#git/run-git.ts'
import { listCommits } from '#hosting/commits/list-commits.ts'
import { listIssues, type RepositoryIssueFilter } from '#hosting/issues/issues.ts'
import { renderAll } from '#hosting/mentions/rendering.ts'
import { findAllAuthors } from '#hosting/refs/commits.ts'
import { encodePath } from '#hosting/refs/json.ts'
import { listReleases } from '#hosting/releases/releases.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Viewer } from '#identity/accounts.ts'
import { timelines } from '#parts/timelines/timelines.ts'
import { Refusal } from '#platform/errors.ts'
import { selfHosted } from '#variants.ts'
import { xml } from '#web/html.ts'
import type { FeedDocument } from './atom.ts'
import type { Entry } from './entries.ts'
import { readFeed } from './feeds.ts'

/** The feeds of a repository, by the last part of their path. `ref` is the branch or tag of commits; empty for the default branch. */
type ListFeed = { kind: 'releases' | 'tags' | 'issues' } | { kind: 'commits'; ref: string }
export type RepositoryFeed = { kind: 'activity' } | ListFeed

/** As on the public service. */
const most = { commits: 20, releases: 10, tags: 10, issues: 30 }
const patience = 10_000

interface FeedContext {
  belfry: Belfry
  repo: Repository
  viewer: Viewer
}

export async function readRepositoryFeed(context: FeedContext, feed: RepositoryFeed): Promise<FeedDocument> {
  const { belfry, repo, viewer } = context
  const above = `/${repo.owner_login}/${repo.name}`
  const full_name = above.slice(1)
  if (feed.kind === 'activity') {
    const since = new Date(belfry.db.now.getTime() - selfHosted.events.days * 86_400_000)
    const named = { title: `Activity of ${full_name}`, path: above, page: above, token: null, account: null }
    const view = { viewer, since, until: null }
    const { document } = await readFeed(belfry.db, { ...named, timeline: timelines.repository(repo), view }, belfry.addresses.web)
    return { ...document, updated_at: document.entries[0]?.created_at ?? repo.created_at }
  }
  const entries = await readEntries(context, feed)
  const named = describe(feed, repo)
  return { ...named, token: null, updated_at: entries[0]?.created_at ?? repo.created_at, entries }
}

function describe(feed: ListFeed, { owner_login, name, default_branch }: Repository) {
  const above = `/${owner_login}/${name}`
  if (feed.kind === 'commits') {
    const ref = feed.ref || default_branch
    const path = `${above}/commits/${encodePath(ref)}`
    return { title: `Recent commits to ${name}:${ref}`, path, page: above }
  }
  const titles = { releases: 'Release notes from', tags: 'Tags from', issues: 'Issues of' }
  const pages = { releases: above, tags: above, issues: `${above}/issues` }
  return { title: `${titles[feed.kind]} ${name}`, path: `${above}/${feed.kind}`, page: pages[feed.kind] }
}

function readEntries(context: FeedContext, feed: ListFeed): Promise<Entry[]> {
  switch (feed.kind) {
    case 'commits':
      return commitEntries(context, feed.ref)
    case 'releases':
      return releaseEntries(context)
    case 'tags':
      return tagEntries(context)
    case 'issues':
      return issueEntries(context)
  }
}

const pageOf = ({ belfry, repo }: FeedContext, path: string) => `${belfry.addresses.web}/${repo.owner_login}/${repo.name}/${path}`

async function commitEntries(context: FeedContext, ref: string): Promise<Entry[]> {
  const { belfry, repo } = context
  const query = { sha: ref, path: '', author: '', committer: '', since: '', until: '' }
  const commits = await listCommits(belfry.db, belfry.storage, repo, query, { limit: most.commits, offset: 0 })
    // An empty repository has a feed, which is empty.
    .then(({ rows }) => rows)
    .catch((error) => {
      if (error instanceof Refusal && error.reason === 'conflict' && !ref) return []
      throw error
    })
  const authors = await findAllAuthors(belfry.db, commits)
  return commits.map((commit, index) => {
    const author = authors[index]?.author
    return {
      ...{ id: commit.sha, type: 'Commit', created_at: commit.committer.date, link: pageOf(context, `commit/${commit.sha}`) },
      actor: author ? { id: author.id, login: author.login } : { id: null, login: commit.author.name },
      title: commit.message.split('\n', 1)[0] ?? '',
      content: xml`<pre>${commit.message}</pre>`,
    }
  })
}

async function releaseEntries(context: FeedContext): Promise<Entry[]> {
  const { belfry, repo, viewer } = context
  const { rows } = await listReleases(belfry.db, repo, false, { limit: most.releases, offset: 0 })
  const reader = { db: belfry.db, viewer, repo, web: belfry.addresses.web }
  const texts = await renderAll(
    reader,
    rows.map(({ body }) => body),
  )
  return rows.map((release, index) => ({
    ...{ id: `${repo.id}/${release.tag_name}`, type: 'Repository', created_at: release.published_at ?? release.created_at },
    link: pageOf(context, `releases/tag/${encodePath(release.tag_name)}`),
    actor: { id: release.author_id || null, login: release.author_login },
    title: release.name || release.tag_name,
    content: texts[index] ?? xml``,
  }))
}

/** Newest first by the date of the tag or, for one without an object of its own, of its commit. */
async function tagEntries(context: FeedContext): Promise<Entry[]> {
  const { belfry, repo } = context
  const format = '%(refname:strip=2)%00%(creatordate:unix)%00%(creator)%00%(contents:subject)'
  const { output } = await within(patience, (signal) => {
    const { path, ...bounds } = readingOf(belfry.storage, repo.id, repo.id, signal)
    const args = ['for-each-ref', '--sort=-creatordate', `--count=${most.tags}`, `--format=${format}`, 'refs/tags/']
    return runGit(path, args, bounds)
  })
  const lines = output.toString().split('\n').filter(Boolean)
  return lines.map((line) => {
    const [name = '', seconds = '', creator = '', subject = ''] = line.split('\0')
    return {
      ...{ id: `${repo.id}/${name}`, type: 'Repository', created_at: new Date(Number(seconds) * 1000), title: name },
      link: pageOf(context, `releases/tag/${encodePath(name)}`),
      actor: { id: null, login: creator.split(' <', 1)[0] ?? '' },
      content: xml`<p>${subject}</p>`,
    }
  })
}

const newestIssues: RepositoryIssueFilter = {
  ...({ state: 'all', sort: 'created', direction: 'desc' } as const),
  ...{ labels: '', since: '', creator: '', assignee: '', milestone: '' },
}

async function issueEntries(context: FeedContext): Promise<Entry[]> {
  const { belfry, repo, viewer } = context
  if (!repo.has_issues) return []
  const { rows } = await listIssues(belfry.db, repo, newestIssues, { limit: most.issues, offset: 0 })
  const reader = { db: belfry.db, viewer, repo, web: belfry.addresses.web }
  const texts = await renderAll(
    reader,
    rows.map(({ body }) => body),
  )
  return rows.map((issue, index) => ({
    ...{ id: issue.id, type: 'Issue', created_at: issue.created_at, title: issue.title },
    link: pageOf(context, `${issue.pull_id === null ? 'issues' : 'pull'}/${issue.number}`),
    actor: { id: issue.author?.id ?? null, login: issue.author?.login ?? 'ghost' },
    content: texts[index] ?? xml``,
  }))
}
