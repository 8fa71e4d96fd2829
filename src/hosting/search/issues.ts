import { type Issue, loadIssues } from '#hosting/issues/issues.ts'
import { mentioning } from '#hosting/issues/mentioned.ts'
import { type Repository, readRepositories } from '#hosting/repositories/repositories.ts'
import { visible } from '#hosting/repositories/visibility.ts'
import type { Viewer } from '#identity/accounts.ts'
import { empty, type Queryable, type Sql, sql } from '#platform/database.ts'
import type { Slice } from '#platform/listed.ts'
import { lowerEach } from '#platform/lower-case.ts'
import { accountOf, among, type Conditions, conditionsOf, inDates, inNumbers } from './conditions.ts'
import { countOpen } from './open-issues.ts'
import { parseQuery, type Qualifier, refused } from './query.ts'
import { checkScope, scopeConditions, separateScope } from './repository-scope.ts'
import { mostResults, type Results } from './results.ts'

const pull = sql`select from pulls p where p.issue_id = i.id`
const assigned = sql`select from issue_assignees s where s.issue_id = i.id`
const labelled = sql`select from issue_labels b where b.issue_id = i.id`
const reactions = sql`(select count(*) from reactions n where n.issue_id = i.id)`

const kinds = {
  issue: sql`not exists (${pull})`,
  pr: sql`exists (${pull})`,
  'pull-request': sql`exists (${pull})`,
  pullrequest: sql`exists (${pull})`,
}
const states = { open: sql`i.state = 'open'`, closed: sql`i.state = 'closed'` }
const drafts = { true: sql`exists (${pull} and p.draft)`, false: sql`exists (${pull} and not p.draft)` }
const reasons = {
  completed: sql`i.state_reason = 'completed'`,
  'not planned': sql`i.state_reason = 'not_planned'`,
  duplicate: sql`i.state_reason = 'duplicate'`,
}

function conditionsFor(viewer: Viewer & { login: string | null }): Conditions {
  const person = accountOf(viewer.viewer_id)
  const commented = (login: string) => sql`i.id in (select c.issue_id from comments c where c.author_id = ${person(login)})`
  const assignee = (login: string) => sql`exists (${assigned} and s.user_id = ${person(login)})`
  const mentions = (login: string) => mentioning(login.toLowerCase() === '@me' ? (viewer.login ?? '') : login)
  return {
    ...scopeConditions(viewer.viewer_id),
    is: among('is', {
      ...kinds,
      ...states,
      merged: sql`exists (${pull} and p.merged_at is not null)`,
      unmerged: sql`exists (${pull} and p.merged_at is null)`,
      draft: drafts.true,
      public: sql`not r.private`,
      private: sql`r.private`,
      locked: sql`i.locked`,
      unlocked: sql`not i.locked`,
      archived: sql`r.archived`,
    }),
    type: among('type', kinds),
    state: among('state', states),
    draft: among('draft', drafts),
    archived: among('archived', { true: sql`r.archived`, false: sql`not r.archived` }),
    reason: among('reason', reasons),
    language: (name) => sql`lower(r.language) = lower(${name})`,
    author: (login) => sql`i.author_id = ${person(login)}`,
    assignee,
    mentions,
    commenter: commented,
    involves: (login) => sql`i.author_id = ${person(login)} or ${assignee(login)} or ${mentions(login)} or ${commented(login)}`,
    'review-requested': (login) =>
      sql`exists (select from pulls p join review_requests q on q.pull_id = p.id where p.issue_id = i.id and q.user_id = ${person(login)})`,
    'reviewed-by': (login) =>
      sql`exists (select from pulls p join reviews v on v.pull_id = p.id
        where p.issue_id = i.id and v.state <> 'PENDING' and v.author_id = ${person(login)})`,
    // Of labels with commas between, one is enough.
    label: (names) => sql`i.id in (select b.issue_id from labels l join issue_labels b on b.label_id = l.id
      where lower(l.name) = any(${lowerEach(names.split(',').map((name) => name.trim()))}))`,
    milestone: (title) => sql`exists (select from milestones m where m.id = i.milestone_id and lower(m.title) = lower(${title}))`,
    no: among('no', {
      label: sql`not exists (${labelled})`,
      milestone: sql`i.milestone_id is null`,
      assignee: sql`not exists (${assigned})`,
    }),
    head: (name) => sql`exists (${pull} and starts_with(p.head_ref, ${name}))`,
    base: (name) => sql`exists (${pull} and starts_with(p.base_ref, ${name}))`,
    created: inDates('created', sql`i.created_at`),
    updated: inDates('updated', sql`i.updated_at`),
    closed: inDates('closed', sql`i.closed_at`),
    merged: (value) => sql`exists (${pull} and ${inDates('merged', sql`p.merged_at`)(value)})`,
    comments: inNumbers('comments', sql`i.comments_count`),
    reactions: inNumbers('reactions', reactions),
    interactions: inNumbers('interactions', sql`(i.comments_count + ${reactions})`),
  }
}

const known = new Set([...Object.keys(conditionsFor({ viewer_id: null, sees_private: false, login: null })), 'in', 'sort'])
const unsupported = new Set(
  'team team-review-requested status review linked project head-ref parent-issue sub-issue has'.split(' '),
)

const sorts: Record<string, Sql> = {
  // Ids increase in the order of creation.
  created: sql`i.id`,
  updated: sql`i.updated_at`,
  comments: sql`i.comments_count`,
  interactions: sql`(i.comments_count + ${reactions})`,
  reactions,
  ...Object.fromEntries(
    Object.entries({ '+1': '+1', '-1': '-1', smile: 'laugh', thinking_face: 'confused', heart: 'heart', tada: 'hooray' }).map(
      ([name, content]) => [
        `reactions-${name}`,
        sql`(select count(*) from reactions n where n.issue_id = i.id and n.content = ${content})`,
      ],
    ),
  ),
}

export interface SearchOrder {
  sort: string
  order: 'desc' | 'asc'
}

export interface FoundIssue {
  issue: Issue
  repo: Repository
  score: number
}

/** How many matches of words are looked at, the newest first: each of them takes 2 µs. */
const mostMatches = 10_000

/**
 * Issues and pull requests that the viewer may see. One statement counts the matches and finds the page. The best matches are those of the
 * newest thousand in which the words are most frequent, titles first: to rank every match of a frequent word took ten times as long.
 */
export async function searchIssues(
  db: Queryable,
  viewer: Viewer & { login: string | null },
  q: string,
  wanted: SearchOrder,
  { limit, offset }: Slice,
): Promise<Results<FoundIssue>> {
  const { text, terms, qualifiers } = parseQuery(q, known, unsupported)
  await checkScope(db, viewer, qualifiers)
  const { sort, order } = orderOf(qualifiers, wanted)
  const sorted = Object.hasOwn(sorts, sort)
  const down = order === 'asc' && sorted ? sql`asc` : sql`desc`
  const by_rank = text !== '' && !sorted
  const rank = sql`(select ts_rank(d.document, ${wordsOf(text)}) from issue_documents d where d.issue_id = m.id)`
  const place = sql`${by_rank ? sql`score desc,` : empty} key ${down}, id ${down}`
  const { within, others } = separateScope(qualifiers)
  const conditions = others.filter(({ name }) => name !== 'in' && name !== 'sort')
  const table = conditionsFor(viewer)
  const seen = sql`${visible(viewer)} ${conditionsOf(within, table)}`
  const by_id = !sorted || sort === 'created'
  const source = text === '' ? sql`issues i` : sql`texts t join issues i on i.id = t.issue_id`
  // The viewer may see all issues of `texts`, and words alone need nothing else of them. Without words, the newest thousand by id are found
  // sooner than all others are counted.
  const matched =
    text !== '' && by_id && !conditions.length
      ? sql`matched as (select issue_id as id, issue_id as key from texts)`
      : sql`matched as ${text === '' && by_id ? sql`not materialized` : sql`materialized`} (
          select i.id, ${sorted ? sorts[sort] : sql`i.id`} as key from ${source} join repositories r on r.id = i.repo_id
          where ${text === '' ? sql`${open(sql`i.id`)} and ${seen}` : sql`true`} ${conditionsOf(conditions, table)})`
  const counted = text === '' && by_id ? countOpen(conditions, seen) : undefined
  const found = await db.first<{ total: number; matches: number; page: { id: number; score: number }[] | null }>(sql`
    with texts as materialized (${text === '' ? sql`select where false` : textsWith(text, fieldsOf(qualifiers), seen)}),
    ${matched},
    ranked as (
      select m.id, m.key, ${by_rank ? rank : sql`1.0::real`} as score
      from (select * from matched order by key ${down}, id ${down} limit ${by_rank ? mostResults : offset + limit}) m),
    page as (select * from ranked order by ${place} limit ${limit} offset ${offset})
    select (select count(*) from texts) as matches, ${counted ?? sql`(select count(*) from matched)`} as total,
      (select json_agg(json_build_object('id', id, 'score', score) order by ${place}) from page) as page`)
  const { total = 0, matches = 0, page } = found ?? {}
  const incomplete = matches > mostMatches
  return {
    rows: await readFound(db, viewer, page ?? []),
    total: incomplete ? Math.min(total, mostMatches) : total,
    terms,
    incomplete,
  }
}

const wordsOf = (text: string) => sql`websearch_to_tsquery('english', ${text})`

/** Issues with these words that the viewer may see. Titles have the weight A and bodies B, see `search_document`. */
function textsWith(text: string, fields: Set<string>, seen: Sql): Sql {
  const query = wordsOf(text)
  const weights = [fields.has('title') && 'a', fields.has('body') && 'b'].filter(Boolean).join('')
  const inIssues = sql`select d.issue_id, d.repo_id from issue_documents d where d.document @@ ${query}
    ${weights === 'ab' ? empty : sql`and ts_filter(d.document, ${`{${weights.split('').join(',')}}`}::"char"[]) @@ ${query}`}`
  const inComments = sql`select c.issue_id, c.repo_id from comments c where search_document(null, c.body) @@ ${query}`
  const newest = (source: Sql) => sql`(
    select x.issue_id from (${source}) x join repositories r on r.id = x.repo_id where ${open(sql`x.issue_id`)} and ${seen}
    order by x.issue_id desc limit ${mostMatches + 1})`
  const sources = [...(weights ? [inIssues] : []), ...(fields.has('comments') ? [inComments] : [])].map(newest)
  return sources.reduce((one, other) => sql`${one} union ${other} order by issue_id desc limit ${mostMatches + 1}`)
}

/** When issues are disabled, pull requests can still be found. */
const open = (issue_id: Sql) => sql`(r.has_issues or exists (select from pulls p where p.issue_id = ${issue_id}))`

async function readFound(db: Queryable, { viewer_id }: Viewer, page: { id: number; score: number }[]): Promise<FoundIssue[]> {
  if (!page.length) return []
  const ids = page.map(({ id }) => id)
  const issues = new Map((await loadIssues(db, ids)).map((issue) => [issue.id, issue]))
  const repo_ids = [...new Set([...issues.values()].map(({ repo_id }) => repo_id))]
  const repos = new Map((await readRepositories(db, viewer_id, repo_ids)).map((repo) => [repo.id, repo]))
  return page.flatMap(({ id, score }) => {
    const issue = issues.get(id)
    const repo = repos.get(issue?.repo_id ?? 0)
    return issue && repo ? [{ issue, repo, score }] : []
  })
}

function fieldsOf(qualifiers: Qualifier[]) {
  const named = qualifiers.filter(({ name }) => name === 'in').flatMap(({ value }) => value.toLowerCase().split(','))
  const wrong = named.find((field) => !['title', 'body', 'comments'].includes(field))
  if (wrong !== undefined) throw refused(`in:${wrong.slice(0, 60)} is not supported. Use title, body, comments.`)
  return new Set(named.length ? named : ['title', 'body', 'comments'])
}

/** `sort:created-asc` in the query has the same meaning as the parameters. */
function orderOf(qualifiers: Qualifier[], { sort, order }: SearchOrder): SearchOrder {
  const [, name, direction] = /^(.+?)(?:-(asc|desc))?$/.exec(qualifiers.find((each) => each.name === 'sort')?.value ?? '') ?? []
  return name === undefined ? { sort, order } : { sort: name, order: direction === 'asc' ? 'asc' : 'desc' }
}
