import type { ChangedFile } from '#git/changes.ts'
import { count } from '#hosting/issues/views/conversation.ts'
import { composer } from '#hosting/mentions/views/composer.ts'
import { comparePull } from '#hosting/pulls/mergeability.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { type PatchLine, readPatch } from '#hosting/reviews/diff-position.ts'
import { findPending, type PendingReview } from '#hosting/reviews/pending.ts'
import { reviewForm } from '#hosting/reviews/views/review-form.ts'
import { mayReview, type Shelf, type TypedReview, threadBox } from '#hosting/reviews/views/thread-box.ts'
import { loadTalk, type Thread } from '#hosting/reviews/views/threads.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { alert } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type Visit } from '#web/page.ts'
import { diffView } from './diff.ts'
import { anchorOf, type DiffComments } from './diff-table.ts'
import { type PullPage, pullPage } from './pull-page.ts'

/** The changes of a pull request, with the threads at their lines, and the form of a review. */
export async function filesPage(visit: Visit, page: PullPage, typed?: TypedReview): Promise<Outcome> {
  const { repo, pull, path } = page
  const comparison = await comparePull(visit.belfry.storage, pull)
  const talk = await loadTalk(visit, repo, pull)
  const pending = await findPending(visit.db, pull, visit.visitor)
  const shelf: Shelf = { repo, pull, path, page: 'files', talk, typed }
  const may = mayReview(visit, shelf)
  const sides = {
    base: { repository: pathOf(repo), sha: comparison.merge_base ?? comparison.base },
    head: { repository: pathOf(repo), sha: comparison.head },
  }
  const review = may ? reviewForm(visit, shelf, pending) : undefined
  const tools =
    review && buttonLink('Review changes', '#review', { kind: 'primary', ...(pending && { count: pending.comments }) })
  const comments = commentsIn(visit, shelf, pending)
  const template = may && html`<template id="line-form">${lineForm(visit, shelf, pending, '')}</template>`
  const body = html`${await diffView(visit, comparison, { ...sides, comments, tools, address: `${path}/files` })}${review}${template}`
  return pullPage(visit, page, 'Files changed', body, typed?.problem?.status)
}

/** Threads at the lines that they are about. If a line has changed since, its threads are above the file. */
function commentsIn(visit: Visit, shelf: Shelf, pending: PendingReview | undefined): DiffComments {
  const { typed, path } = shelf
  const may = mayReview(visit, shelf)
  const begun = may ? (typed?.form ?? visit.query.get('comment')) : undefined
  const byFile = Map.groupBy(shelf.talk.threads, ({ first }) => first.path)
  const placed = new Map<string, Map<string, Thread[]>>()
  const placesIn = (file: ChangedFile) => {
    const known = placed.get(file.filename)
    if (known) return known
    const threads = byFile.get(file.filename) ?? []
    const lines = threads.length ? readPatch(file.patch ?? '') : []
    const places = Map.groupBy(threads, (thread) => placeOf(lines, thread))
    placed.set(file.filename, places)
    return places
  }
  const shown = (thread: Thread) => threadBox(visit, shelf, thread)
  return {
    address: may ? (anchor) => `${path}/files?comment=${anchor}#${anchor}` : undefined,
    at: (file, side, line) => {
      const threads = byFile.has(file.filename) ? (placesIn(file).get(`${side} ${line}`) ?? []) : []
      const anchor = `${anchorOf(file.filename)}${side === 'LEFT' ? 'L' : 'R'}${line}`
      const writes = begun === anchor
      if (!threads.length && !writes) return undefined
      return html`${threads.map(shown)}${writes && lineForm(visit, shelf, pending, anchor, file.filename)}`
    },
    above: (file) => {
      if (!byFile.has(file.filename)) return undefined
      const whole = placesIn(file).get('file') ?? []
      const outdated = placesIn(file).get('outdated') ?? []
      const old = outdated.map((thread) => threadBox(visit, shelf, thread, { quoted: true }))
      return html`${whole.length > 0 && html`<div class="diff-said">${whole.map(shown)}</div>`}${outdated.length > 0 && html`<details class="diff-said"><summary>${count(outdated.length, 'outdated conversation')}</summary>${old}</details>`}`
    },
  }
}

/** The side and number of a line, `file`, or `outdated`. */
function placeOf(lines: PatchLine[], { first }: Thread): string {
  const { line, side, diff_hunk } = first
  if (line === null) return first.subject_type === 'file' ? 'file' : 'outdated'
  const about = diff_hunk.split('\n').at(-1)?.slice(1)
  const there = lines.find((one) => one[side ?? 'RIGHT'] === line)
  return there && there.text.slice(1) === about ? `${side ?? 'RIGHT'} ${line}` : 'outdated'
}

/** A comment on a line, or on the lines from another one to it. Scripts copy the form to the line that is pressed. */
function lineForm(visit: Visit, shelf: Shelf, pending: PendingReview | undefined, anchor: string, file = ''): Html {
  const { repo, pull, path, typed } = shelf
  const again = typed && typed.form === anchor ? typed : undefined
  const [, side = 'R', line = ''] = /([LR])(\d+)$/.exec(anchor) ?? []
  const hidden = (name: string, value: string) => html`<input type="hidden" name="${name}" value="${value}">`
  const inputs = html`${alert(again?.problem)}${hidden('anchor', anchor)}${hidden('path', file)}${hidden('line', line)}${hidden('side', side)}${hidden('commit', pull.head_sha)}
${composer(repo, { id: 'line-comment', label: `Comment on line ${line}`, unlabelled: true, value: again?.body ?? '', required: true, rows: 4, preview: again?.preview })}
<div class="buttons">${button(pending ? 'Add review comment' : 'Start a review', { kind: 'primary', size: 'small', name: 'how', value: 'review' })}${button('Add single comment', { size: 'small', name: 'how', value: 'single' })}${buttonLink('Cancel', `${path}/files#${anchor}`, { size: 'small', kind: 'invisible' })}
<button type="button" class="button small invisible suggest" hidden>Suggest a change</button><span class="space"></span>
<label class="first-line">From line <input name="start_line" inputmode="numeric" pattern="[0-9]*" maxlength="9" value="${visit.form.get('start_line') ?? ''}" placeholder="${line}" autocomplete="off"></label></div>`
  return form(visit, `${path}/review-comments`, inputs, {
    class: 'form reply line-form',
    enter: { name: 'how', value: 'review' },
  })
}
