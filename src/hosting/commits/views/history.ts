import { join } from 'node:path'
import type { CommitObject, Signature } from '#git/objects.ts'
import { type CheckSummary, summarizeChecks } from '#hosting/checks/summaries.ts'
import { countLanes, drawGraph, type GraphRow } from '#hosting/commits/graph.ts'
import { countComments, findAllAuthors } from '#hosting/refs/commits.ts'
import type { Authors } from '#hosting/refs/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import type { Person } from '#identity/accounts.ts'
import type { Queryable } from '#platform/database.ts'
import { avatar } from '#web/components/avatar.ts'
import { buttonLink } from '#web/components/button.ts'
import { copyButton } from '#web/components/copy.ts'
import { icon } from '#web/components/icon.ts'
import { badge } from '#web/components/label.ts'
import { dayText, moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import { graphGap, graphLines } from './graph-lines.ts'

export const assets = join(import.meta.dirname, '../assets')

interface Row {
  commit: CommitObject
  authors: Authors
  checks: CheckSummary | undefined
  comments: number
  graph: GraphRow | undefined
}

/** On a telephone, this many lanes leave room for texts. */
const fewLanes = 4

/** Commits by day, with their authors, checks and comments, and beside them how they follow from each other. */
export async function commitHistory(
  db: Queryable,
  repo: Repository,
  commits: CommitObject[],
  { graph = false }: { graph?: boolean } = {},
): Promise<Html> {
  const shas = commits.map(({ sha }) => sha)
  const authors = await findAllAuthors(db, commits)
  const checks = await summarizeChecks(db, repo, shas)
  const comments = await countComments(db, repo, shas)
  const lines = graph ? drawGraph(commits) : []
  const lanes = countLanes(lines)
  const rows = commits.map((commit, index) => ({
    commit,
    authors: authors[index] ?? {},
    checks: checks.get(commit.sha),
    comments: comments.get(commit.sha) ?? 0,
    graph: lines[index],
  }))
  let above: GraphRow | undefined
  const days = byDay(rows).map((inside) => {
    const gap = graph && graphGap(above, lanes)
    above = inside.at(-1)?.graph
    return html`<section><h2 class="day">${gap}<span>Commits on ${dayOf(inside[0])}</span></h2><ol>${inside.map((row) => commitRow(repo, row, lanes))}</ol></section>`
  })
  return html`<div class="history${graph && lanes > fewLanes && ' many-lanes'}">${days}</div>`
}

const dayOf = (row: Row | undefined) => (row ? dayText(row.commit.committer.date) : '')

/** Commits next to each other of the same day. The order stays, because the graph has it. */
function byDay(rows: Row[]): Row[][] {
  const days: Row[][] = []
  for (const row of rows) {
    const last = days.at(-1)
    if (last && dayOf(last[0]) === dayOf(row)) last.push(row)
    else days.push([row])
  }
  return days
}

function commitRow(repo: Repository, { commit, authors, checks, comments, graph }: Row, lanes: number): Html {
  const { sha, message, author, committer, parents } = commit
  const path = pathOf(repo)
  const address = `${path}/commit/${sha}`
  const { title, text } = splitMessage(message)
  return html`<li class="commit-row" id="c${sha.slice(0, 12)}">${graph && graphLines(graph, lanes, parents.length > 1)}<div class="commit-text"><p dir="auto"><a class="commit-title" href="${address}">${title || 'No message'}</a></p>
<p class="muted">${authorLink(author, authors.author)} committed ${moment(committer.date)}${!isOwn(commit, authors) && html` with ${authorLink(committer, authors.committer)}`}${parents.length > 1 && html` ${badge('Merge', 'done')}`}${checks && html` ${checkState(checks)}`}${
    comments > 0 && html` <a href="${address}#comments">${icon('comment', { label: 'Comments' })} ${comments}</a>`
  }</p>
${text && html`<details><summary aria-label="The rest of the message">…</summary><pre class="commit-message" dir="auto">${text}</pre></details>`}</div>
<div class="commit-tools"><a href="${address}"><code>${sha.slice(0, 7)}</code></a>${copyButton(sha, `Copy the id of ${sha.slice(0, 7)}`)}${buttonLink('', `${path}/tree/${sha}`, { icon: 'code', kind: 'invisible', size: 'small', label: `Browse the files at ${sha.slice(0, 7)}` })}</div></li>`
}

/** Whether the author committed it, with one of several addresses. */
export const isOwn = ({ author, committer }: CommitObject, { author: writer, committer: sender }: Authors) =>
  writer && sender ? writer.id === sender.id : author.email === committer.email || author.name === committer.name

/** The first line, and the rest. */
export function splitMessage(message: string): { title: string; text: string } {
  const [title = '', ...rest] = message.trim().split('\n')
  return { title: title.trim(), text: rest.join('\n').trim() }
}

/** The account of a commit's author or, without one, the name that the commit has. */
export function authorLink({ name }: Signature, account: Person | undefined): Html {
  return account
    ? html`<a class="person" href="/${account.login}">${avatar(account, 20)} <span>${account.login}</span></a>`
    : html`<span class="person">${icon('person')} <bdi>${name || 'unknown'}</bdi></span>`
}

const states = {
  success: ['check', 'Checks succeeded'],
  failure: ['x', 'Checks failed'],
  pending: ['dot-fill', 'Checks are pending'],
} as const

export function checkState({ state, succeeded, total }: CheckSummary): Html {
  const [name, text] = states[state]
  return html`<span class="check-state ${state}" title="${text}: ${succeeded} of ${total} succeeded">${icon(name, { label: text })} ${succeeded}/${total}</span>`
}
