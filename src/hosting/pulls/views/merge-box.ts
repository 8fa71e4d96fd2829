import { holdsAll } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { mayEdit, mayPush } from '#hosting/issues/rights.ts'
import { count, nameOf } from '#hosting/issues/views/conversation.ts'
import { describeMergeRules } from '#hosting/protection/merge-rules.ts'
import { findProtection } from '#hosting/protection/protection.ts'
import { branchTip } from '#hosting/pulls/mergeability.ts'
import { type MergeMethod, usualMessage } from '#hosting/pulls/merging.ts'
import type { Pull } from '#hosting/pulls/pulls.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { ReviewerState } from '#hosting/reviews/views/reviewers.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { menu } from '#web/components/menu.ts'
import { moment } from '#web/components/time.ts'
import { choice, field } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import { checkLine, describeChecks, summaryOf } from './checks.ts'
import type { PullPage } from './pull-page.ts'

/** What the visitor can do next, and what is missing before the pull request can be merged. */
export async function mergeBox(visit: Visit, page: PullPage, reviewers: ReviewerState[]): Promise<Html> {
  const { repo, pull } = page
  if (pull.merged_at) return merged(visit, page)
  if (pull.state === 'closed') return closed(visit, page)
  const { storage } = visit.belfry
  const base = (await branchTip(storage, repo.id, pull.base_ref)) ?? pull.base_sha
  const protection = await findProtection(visit.db, repo, pull.base_ref)
  const unmet = await describeMergeRules(visit.db, storage, repo, visit.visitor, pull, base)
  const needed = protection?.required_pull_request_reviews?.approvals_count ?? 0
  const rows = [
    reviewRow(page, reviewers, needed),
    checkRow(page),
    await conflictRow(visit, page, base),
    unmet.length > 0 && protectionRow(unmet),
    pull.draft && draftRow(visit, page),
  ].filter((one) => one !== undefined && one !== false)
  return html`<section class="merge-box ${toneOf(page, unmet.length > 0)}" id="merge" aria-label="Merging">${rows}${await mergeForms(visit, page, unmet.length > 0)}</section>`
}

function toneOf({ pull, checks }: PullPage, unmet: boolean) {
  if (pull.draft) return 'draft'
  if (pull.mergeable_state === 'dirty' || unmet) return 'danger'
  return pull.mergeable_state !== 'clean' || summaryOf(checks) !== 'success' ? 'plain' : 'success'
}

const row = (name: string, tone: string, title: string, text: Html, more?: Html | false) =>
  html`<div class="merge-row"><span class="merge-sign ${tone}">${icon(name)}</span><div><h3>${title}</h3><p class="muted">${text}</p>${more}</div></div>`

function protectionRow(unmet: string[]): Html {
  const list = html`<ul>${unmet.map((message) => html`<li>${message}</li>`)}</ul>`
  return row('shield-lock', 'attention', 'The base is protected', html`Its rules do not allow merging yet.`, list)
}

function reviewRow({ path }: PullPage, reviewers: ReviewerState[], needed: number): Html | undefined {
  const named = (state: ReviewerState['state']) => reviewers.filter((one) => one.state === state)
  const names = (states: ReviewerState[]) =>
    html`${states.map(({ reviewer }, index) => html`${index > 0 && ', '}${nameOf(reviewer)}`)}`
  const [approved, refused, asked] = [named('APPROVED'), named('CHANGES_REQUESTED'), named('REQUESTED')]
  if (refused.length) return row('file-diff', 'danger', 'Changes requested', html`By ${names(refused)}.`)
  if (approved.length && approved.length >= needed)
    return row('check', 'success', 'Changes approved', html`By ${names(approved)}.`)
  if (needed)
    return row(
      'code-review',
      'attention',
      'Review required',
      html`${approved.length} of ${count(needed, 'required approval')}. <a href="${path}/files#review">Add your review</a>`,
    )
  return asked.length ? row('code-review', 'attention', 'Review requested', html`From ${names(asked)}.`) : undefined
}

function checkRow({ checks, path }: PullPage): Html | undefined {
  const described = describeChecks(checks)
  const summary = summaryOf(checks)
  if (!described || !summary) return undefined
  const [name, tone] = {
    success: ['check', 'success'] as const,
    failure: ['x', 'danger'] as const,
    pending: ['clock', 'attention'] as const,
  }[summary]
  const lines = checks.map((check) => checkLine(check, `${path}/checks`))
  const list = html`<details class="check-list"${summary !== 'success' && html` open`}><summary>Show all checks</summary><ul class="plain">${lines}</ul></details>`
  return row(name, tone, described.title, html`${described.text}`, list)
}

async function conflictRow(visit: Visit, page: PullPage, base: string): Promise<Html> {
  const { repo, pull, path } = page
  if (pull.mergeable_state === 'dirty') {
    const commands = `git fetch origin\ngit checkout ${pull.head_ref}\ngit merge origin/${pull.base_ref}\n# resolve the conflicts, then\ngit commit\ngit push origin ${pull.head_ref}`
    const help = html`<details><summary>Resolve them on the command line</summary><pre tabindex="0">${commands}</pre></details>`
    return row(
      'alert',
      'danger',
      'This branch has conflicts',
      html`They must be resolved before it can be merged into <code>${pull.base_ref}</code>.`,
      help,
    )
  }
  if (pull.mergeable_state === 'nothing')
    return row('info', 'muted', 'There is nothing to merge', html`The base has all commits of this branch.`)
  if (pull.mergeable_state !== 'clean')
    return row('clock', 'attention', 'Checking for conflicts', html`Reload the page to see the result.`)
  const behind = !(await holdsAll(visit.belfry.storage, repo.id, pull.head_sha, base))
  if (!behind) return row('check', 'success', 'No conflicts with the base branch', html`Merging can be performed automatically.`)
  const update =
    mayUpdate(visit, page) &&
    form(
      visit,
      `${path}/update-branch`,
      html`<input type="hidden" name="sha" value="${pull.head_sha}">${button('Update branch', { size: 'small', icon: 'sync' })}`,
      { class: 'inline', replace: true },
    )
  return row(
    'check',
    'success',
    'No conflicts with the base branch',
    html`The branch is behind <code>${pull.base_ref}</code>.`,
    update,
  )
}

function mayUpdate({ visitor }: Visit, { repo, pull }: PullPage): boolean {
  const head = pull.head_repo_id === repo.id ? repo : pull.head_repo
  return visitor !== null && head !== null && !head.archived && (mayPush(head) || (mayPush(repo) && pull.maintainer_can_modify))
}

function draftRow(visit: Visit, { repo, pull, path }: PullPage): Html {
  const ready =
    mayEdit(repo, visit.visitor, pull.author) &&
    form(visit, `${path}/draft`, button('Ready for review', { name: 'draft', value: 'no', size: 'small' }), {
      class: 'inline',
      replace: true,
    })
  return row('git-pull-request-draft', 'muted', 'This pull request is a draft', html`Drafts cannot be merged.`, ready)
}

const texts: Record<MergeMethod, [button: string, item: string, text: string]> = {
  merge: ['Merge pull request', 'Create a merge commit', 'All commits are added to the base by a merge commit.'],
  squash: ['Squash and merge', 'Squash and merge', 'All commits become one commit on the base.'],
  rebase: ['Rebase and merge', 'Rebase and merge', 'All commits are put on top of the base.'],
}

export function methodsOf({ allow_merge_commit, allow_squash_merge, allow_rebase_merge }: Repository): MergeMethod[] {
  return [
    ...(allow_merge_commit ? ['merge' as const] : []),
    ...(allow_squash_merge ? ['squash' as const] : []),
    ...(allow_rebase_merge ? ['rebase' as const] : []),
  ]
}

/** A button for each method, then the form with the message of the commit. People who may bypass the rules of the base see it too. */
async function mergeForms(visit: Visit, { repo, pull, path }: PullPage, unmet: boolean): Promise<Html | undefined> {
  const methods = methodsOf(repo)
  const [usual] = methods
  if (!visit.visitor || !mayPush(repo) || repo.archived || pull.draft || pull.mergeable_state !== 'clean' || !usual)
    return undefined
  const chosen = methods.find((method) => method === (visit.form.get('method') ?? visit.query.get('merge')))
  if (chosen) return confirmForm(visit, { repo, pull, path }, chosen)
  const items = methods.map((method) => ({
    text: html`${texts[method][1]}<br><small class="muted">${texts[method][2]}</small>`,
    href: `${path}?merge=${method}#merge`,
  }))
  const main = buttonLink(texts[usual][0], `${path}?merge=${usual}#merge`, {
    kind: unmet ? 'danger' : 'primary',
    icon: 'git-merge',
  })
  const more =
    items.length > 1 &&
    menu(html`<span class="button${!unmet && ' primary'}">${icon('triangle-down')}</span>`, items, {
      label: 'Choose how to merge',
      align: 'start',
    })
  return html`<div class="merge-actions"><span class="button-group">${main}${more}</span></div>`
}

async function confirmForm(
  visit: Visit,
  { repo, pull, path }: Pick<PullPage, 'repo' | 'pull' | 'path'>,
  method: MergeMethod,
): Promise<Html> {
  const { title, text } = await usualMessage(visit.belfry.storage, pull, method)
  const message = html`${field({ label: 'Commit message', name: 'commit_title', value: visit.form.get('commit_title') ?? title, required: true, longest: 256 })}
<label for="commit_message">Description</label><textarea id="commit_message" name="commit_message" rows="5" maxlength="65536">
${visit.form.get('commit_message') ?? text}</textarea>`
  const deletes =
    mayDeleteHead(repo, pull) &&
    choice({ name: 'delete_branch', value: 'yes' }, html`Delete <code>${pull.head_ref}</code> afterwards`)
  const inputs = html`<input type="hidden" name="sha" value="${pull.head_sha}"><input type="hidden" name="method" value="${method}">
${method === 'rebase' ? html`<p>The commits keep their messages, and are put on top of <code>${pull.base_ref}</code>.</p>` : message}${deletes}
<div class="buttons">${button(`Confirm: ${texts[method][0].toLowerCase()}`, { kind: 'primary' })}${buttonLink('Cancel', `${path}#merge`)}</div>`
  return form(visit, `${path}/merge`, inputs, { class: 'form reply merge-form' })
}

/** Only branches of the same repository, and never the default branch. */
export const mayDeleteHead = (repo: Repository, pull: Pull) =>
  pull.head_repo_id === repo.id &&
  mayPush(repo) &&
  !repo.archived &&
  pull.head_ref !== repo.default_branch &&
  pull.head_ref !== pull.base_ref

async function merged(visit: Visit, page: PullPage): Promise<Html> {
  const { pull } = page
  const sentence = html`${nameOf(pull.merged_by)} merged it into <code>${pull.base_ref}</code> ${pull.merged_at && moment(pull.merged_at)}.`
  const done = row('git-merge', 'done', 'Merged', sentence, await branchForm(visit, page))
  return html`<section class="merge-box done" id="merge" aria-label="Merging">${done}</section>`
}

async function closed(visit: Visit, page: PullPage): Promise<Html> {
  const text = html`The commits are not merged. They stay here, also if the branch is deleted.`
  const done = row('git-pull-request-closed', 'danger', 'Closed', text, await branchForm(visit, page))
  return html`<section class="merge-box plain" id="merge" aria-label="Merging">${done}</section>`
}

/** Deletes or restores the branch of a pull request that is over. */
async function branchForm(visit: Visit, { repo, pull, path }: PullPage): Promise<Html | undefined> {
  if (!visit.visitor || !mayDeleteHead(repo, pull)) return undefined
  const there = await isThere(visit.belfry.storage, repo, pull)
  const [text, value, name] = there ? ['Delete branch', 'delete', 'trash'] : ['Restore branch', 'restore', 'history']
  return form(visit, `${path}/branch`, button(text, { name: 'branch', value, size: 'small', icon: name }), {
    class: 'inline',
    replace: true,
  })
}

const isThere = async (storage: Storage, repo: Repository, pull: Pull) =>
  (await branchTip(storage, repo.id, pull.head_ref)) !== undefined
