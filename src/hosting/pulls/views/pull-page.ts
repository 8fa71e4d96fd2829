import { liveAttributes } from '#hosting/issues/conversation-stream.ts'
import { loadIssue } from '#hosting/issues/issues.ts'
import { addressOf, type Conversation, count, nameOf } from '#hosting/issues/views/conversation.ts'
import { conversationHead } from '#hosting/issues/views/conversation-head.ts'
import { refreshMergeability } from '#hosting/pulls/mergeability.ts'
import { loadPull, type Pull } from '#hosting/pulls/pulls.ts'
import { encodePath } from '#hosting/refs/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, numberIn, pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { copyButton } from '#web/components/copy.ts'
import { tabs } from '#web/components/tabs.ts'
import { moment } from '#web/components/time.ts'
import { banner } from '#web/components/toast.ts'
import { type Html, html } from '#web/html.ts'
import type { Outcome, Visit } from '#web/page.ts'
import { type Check, readChecks } from './checks.ts'
import { counts } from './diff.ts'

/** What every page of a pull request needs. */
export interface PullPage {
  repo: Repository
  pull: Pull
  checks: Check[]
  /** The address of its conversation. */
  path: string
  /** See `liveAttributes`. */
  live: Html | undefined
}

export type PullTab = 'Conversation' | 'Commits' | 'Checks' | 'Files changed'

/** The pull request of the path; undefined for the number of an issue. */
export async function findPullPage(visit: Visit): Promise<PullPage | { to: string }> {
  const repo = await loadVisibleRepository(visit)
  const issue = await loadIssue(visit.db, repo, numberIn(visit.params.number))
  return issue.pull_id === null ? { to: addressOf({ repo, issue, kind: 'issues' }) } : loadPullPage(visit, repo)
}

export async function loadPullPage(visit: Visit, known?: Repository): Promise<PullPage> {
  const repo = known ?? (await loadVisibleRepository(visit))
  const number = numberIn(visit.params.number)
  const live = await liveAttributes(visit, repo, number)
  const found = await loadPull(visit.db, repo, number, viewerOf(visit))
  const pull = await refreshMergeability(visit.db, visit.belfry.storage, found)
  return { repo, pull, checks: await readChecks(visit.db, repo, pull), path: `${pathOf(repo)}/pull/${pull.number}`, live }
}

/** The issue of a pull request. */
export const issueOf = (pull: Pull) => ({ ...pull, id: pull.issue_id, pull_id: pull.id })

/** The head of the page as the conversation shows it. */
export function pullConversation(page: PullPage, current: PullTab): Conversation {
  const { repo, pull, live } = page
  const conversation = { repo, issue: issueOf(pull), kind: 'pull' as const, live, subscription: undefined }
  return { ...conversation, summary: summaryOf(page), tabs: pullTabs(page, current) }
}

/** `ada wants to merge 3 commits into main from topic`. */
function summaryOf({ repo, pull }: PullPage): Html {
  const { author, merged_by, merged_at, commits } = pull
  const [who, did] = merged_at ? [merged_by, 'merged'] : [author, 'wants to merge']
  return html`<strong>${nameOf(who)}</strong> ${did} ${count(commits, 'commit')} into ${branchName(repo, pull.base_ref)} from ${headName(repo, pull)} ${copyButton(pull.head_ref, 'Copy the name of the branch')}${merged_at && html` ${moment(merged_at)}`}`
}

const branchName = (repo: Pick<Repository, 'owner_login' | 'name'>, branch: string, text = branch) =>
  html`<a class="branch" href="${pathOf(repo)}/tree/${encodePath(branch)}"><code>${text}</code></a>`

/** With the owner when the head is in another repository; a hidden or deleted one has no link. */
function headName(repo: Repository, { head_repo_id, repo_id, head_repo, head_owner, head_ref }: Pull): Html {
  if (head_repo_id === repo_id) return branchName(repo, head_ref)
  const text = `${head_owner?.login ?? 'a deleted user'}:${head_ref}`
  return head_repo ? branchName(head_repo, head_ref, text) : html`<code class="branch">${text}</code>`
}

function pullTabs({ pull, checks, path }: PullPage, current: PullTab): Html {
  const tab = (text: PullTab, name: string, address = '', number?: number) => ({
    text,
    href: `${path}${address}`,
    icon: name,
    current: text === current,
    count: number,
  })
  const list = tabs('Pull request', [
    tab('Conversation', 'comment-discussion', '', pull.comments_count),
    tab('Commits', 'git-commit', '/commits', pull.commits),
    tab('Checks', 'checklist', '/checks', checks.length),
    tab('Files changed', 'file-diff', '/files', pull.changed_files),
  ])
  return html`<div class="pull-tabs">${list}${counts(pull)}</div>`
}

const stepKeys = (noun: string) => [
  ['j', `Next ${noun}`],
  ['k', `Previous ${noun}`],
]

/** For the list of keys; pulls.js acts on them. */
const keys: Partial<Record<PullTab, string[][]>> = {
  Commits: stepKeys('commit'),
  Checks: stepKeys('check'),
  'Files changed': [
    ...stepKeys('file'),
    ['v', 'Mark the file as viewed, or not'],
    ['r', 'Write a review'],
    ['Ctrl Enter', 'Send the comment or review'],
  ],
}

/** A page below the conversation. */
export function pullPage(visit: Visit, page: PullPage, current: PullTab, body: Html, status?: number): Outcome {
  const { repo, pull } = page
  const head = conversationHead(visit, pullConversation(page, current))
  return {
    title: `${current} · ${pull.title} · Pull request #${pull.number} · ${repo.owner_login}/${repo.name}`,
    body: html`<main class="conversation pull-page" data-page-keys="${JSON.stringify(keys[current] ?? [])}"${page.live}>${banner(visit.flash.done)}${head}${body}</main>`,
    above: repositoryHeader(repo, 'pulls'),
    ...(status && { status }),
  }
}
