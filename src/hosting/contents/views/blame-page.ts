import type { BlameRange } from '#git/blame.ts'
import { findAllAuthors } from '#hosting/refs/commits.ts'
import type { RefNames } from '#hosting/refs/recorded-refs.ts'
import type { Person } from '#identity/accounts.ts'
import { Refusal } from '#platform/errors.ts'
import { icon } from '#web/components/icon.ts'
import { moment } from '#web/components/time.ts'
import { highlightLines } from '#web/highlight/highlight.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import { type CodeLocation, codeAddress } from '../code-location.ts'
import type { Content } from '../contents.ts'
import { findBlame } from '../read-code.ts'
import { authorPicture, commitAddress } from './commit-bar.ts'
import { fileBox, mostLines, numberedLine } from './file-page.ts'
import { imageType, sizeText, textOf } from './file-text.ts'
import { pathBar } from './folder-page.ts'
import { isMarkdown } from './readme.ts'

/** In bytes. Git compares a file with each of its earlier versions. */
const largestBlamed = 512 * 1024

/** Who changed each line of a file last. */
export async function blamePage(
  visit: Visit,
  location: CodeLocation,
  { entry, bytes }: Content & { kind: 'file' },
  refs: RefNames,
): Promise<Html> {
  const text = bytes && textOf(bytes)
  if (text === null || entry.size > largestBlamed) {
    throw new Refusal('invalid', 'This file is binary or too large, so its lines have no history here. Use git blame in a clone.')
  }
  const { path } = location
  const ranges = await findBlame(visit.belfry.storage, location)
  const lines = (await highlightLines(entry.sha, path, text)).slice(0, mostLines)
  const commits = [...new Map(ranges.map(({ commit }) => [commit.sha, commit])).values()]
  const authors = await findAllAuthors(
    visit.db,
    commits.map(({ author }) => ({ author, committer: author })),
  )
  const people = new Map(commits.map(({ sha }, index) => [sha, authors[index]?.author]))
  const groups = ranges
    .filter(({ start }) => start <= lines.length)
    .map((range) => rangeRow(location, range, people.get(range.commit.sha), lines))
  const body = html`<div class="blame" role="region" aria-label="Lines with their last commits" tabindex="0">${groups}</div>`
  const views = { view: 'blame' as const, code: true, preview: isMarkdown(path) || imageType(path) !== undefined, text: true }
  const facts = html`${lines.length.toLocaleString('en')} lines · ${sizeText(entry.size)}`
  return html`<main class="code-page">${pathBar(location, 'blame', refs)}${fileBox(location, facts, body, views)}</main>`
}

function rangeRow(location: CodeLocation, range: BlameRange, author: Person | undefined, lines: Html[]): Html {
  const { commit, previous, start } = range
  const before = previous && codeAddress('blame', { repo: location.repo, ref: previous.sha }, previous.path)
  const shown = lines.slice(start - 1, start - 1 + range.lines)
  return html`<div class="blame-range"><div class="blame-commit"><span class="blame-author" title="${author?.login ?? commit.author.name}">${authorPicture(author)}</span>
<a class="latest-title" href="${commitAddress(location, commit.sha)}" title="${`${commit.title} (${author?.login ?? commit.author.name})`}">${commit.title || 'No message'}</a>
<span class="muted">${moment(commit.committed_at)}</span>${before && html`<a href="${before}" class="blame-before" aria-label="Blame before this change" title="Blame before this change">${icon('versions')}</a>`}</div>
<pre class="code-lines">${shown.map((line, index) => numberedLine(line, start + index))}</pre></div>`
}
