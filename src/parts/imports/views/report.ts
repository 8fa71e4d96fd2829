import { singularNotes } from '#importer/notes.ts'
import type { LeftOut, Remark } from '#importer/source.ts'
import { durationOf, type Report } from '#parts/imports/import-row.ts'
import { amount, exactTime, formatDuration, outcomeMark } from '#parts/webhooks/views/outcome-marks.ts'
import { type Html, html } from '#web/html.ts'
import { describeDuration, sourceUnit } from './progress.ts'

export function reportOf(reported: Report): Html {
  return html`<section aria-labelledby="report-title" id="report"><h2 id="report-title">Report</h2>${figures(reported)}${comparison(reported)}${notes(reported)}${mapped(reported)}</section>`
}

function figures(reported: Report): Html {
  const { report, vcs, commit_count, authors_count, created_at, finished_at } = reported
  const seconds = durationOf(reported)
  const figure = (name: string, value: Html | string | number) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`
  return html`<dl class="figures">${figure(sourceUnit(vcs), amount(commit_count ?? 0))}${vcs !== 'git' && report.commits_count !== undefined && figure('Commits', amount(report.commits_count))}${report.branches_count !== undefined && figure('Branches', amount(report.branches_count))}
${report.tags_count !== undefined && figure('Tags', amount(report.tags_count))}${figure('Authors', amount(authors_count))}${seconds !== null && figure('Took', seconds < 60 ? formatDuration(seconds) : describeDuration(seconds))}</dl>
${finished_at && html`<p class="muted">Started ${exactTime(created_at)}, done ${exactTime(finished_at)}.</p>`}`
}

const countOf = (number: number, noun: string, nouns = `${noun}s`) => `${amount(number)} ${number === 1 ? noun : nouns}`

function comparison({ report: { verification }, verify_all, commit_count }: Report): Html {
  if (!commit_count) return html`<p>The source is empty.</p>`
  const { branches, tags, revisions, files, mismatches } = verification
  const compared = `${countOf(branches, 'branch', 'branches')}, ${countOf(tags, 'tag')}, ${verify_all ? 'every revision' : 'a sample of revisions'} (${amount(revisions)}), ${countOf(files, 'file')} in all`
  const outcome = mismatches.length
    ? outcomeMark('bad', `${countOf(mismatches.length, 'difference')} found`)
    : outcomeMark('good', 'No differences')
  const rows = mismatches.map(
    ({ where, path, what }) => html`<tr><td class="address">${where}</td><td class="address">${path}</td><td>${what}</td></tr>`,
  )
  return html`<h3>Compared with the source</h3><p>${outcome}</p><p>By content: ${compared}.</p>${
    rows.length > 0 &&
    html`<p>These files differ from the source.</p><div class="wide" tabindex="0" role="region" aria-label="Differences"><table><thead><tr><th scope="col">In</th><th scope="col">File</th><th scope="col">What differs</th></tr></thead><tbody>${rows}</tbody></table></div>`
  }`
}

/** A report of an older version may have other notes. */
const singular: Partial<Record<string, string>> = singularNotes

function notes({ report }: Report): Html {
  const items = Object.entries(report.notes).filter(([, number]) => number > 0)
  const list = html`<ul>${items.map(([name, number]) => html`<li>${amount(number)} ${number === 1 ? (singular[name] ?? name) : name}</li>`)}</ul>`
  const left = report.left_out ?? []
  const remarks = report.remarks ?? []
  const isNothing = items.length === 0 && left.length === 0 && remarks.length === 0
  return html`<h3>Left out or changed</h3>${isNothing && html`<p class="muted">Nothing.</p>`}${items.length > 0 && list}${remarks.length > 0 && remarkTable(remarks)}${left.length > 0 && leftOutTable(left)}`
}

function remarkTable(remarks: Remark[]): Html {
  const rows = remarks.map(
    ({ what, path, text, revision }) =>
      html`<tr><td>${what.replace(/^./, (first) => first.toUpperCase())}</td><td class="address">${path || '/'}</td><td class="address">${text}</td><td>${revision ?? ''}</td></tr>`,
  )
  const differ = remarks.some(({ what }) => what === 'other line ends')
  return html`<p>Git has no equivalent of these.${differ && html` A file with other line ends has the bytes that Subversion stores; svn export repairs its line ends.`}</p><div class="wide" tabindex="0" role="region" aria-label="Without an equivalent in git"><table><thead><tr><th scope="col">What</th><th scope="col">Path</th><th scope="col">Definition</th><th scope="col">Revision</th></tr></thead><tbody>${rows}</tbody></table></div>`
}

/** The changes that are in no branch and no tag. */
export function leftOutTable(left: LeftOut[]): Html {
  const rows = left.map(
    ({ path, revisions: [first, last], count, reason }) =>
      html`<tr><td class="address">${path || '/'}</td><td>${first === last ? `${first}` : `${first} to ${last}`}</td><td>${amount(count)}</td><td>${reasons[reason] ?? reason}</td></tr>`,
  )
  return html`<p>These changes of the source are in no branch and no tag.</p><div class="wide" tabindex="0" role="region" aria-label="Changes left out"><table><thead><tr><th scope="col">Path</th><th scope="col">Revisions</th><th scope="col">Changes</th><th scope="col">Reason</th></tr></thead><tbody>${rows}</tbody></table></div>`
}

const reasons: Record<LeftOut['reason'], string> = {
  'outside of branches and tags': 'Outside of branches and tags',
  deleted: 'Deleted later',
  replaced: 'Deleted and made again later',
  empty: 'A branch or tag without files',
  'changed after it was copied': 'Changed after a branch was copied from it',
  'a name that git refuses': 'Git refuses the name',
  closed: 'A closed branch that was not merged',
}

function mapped({ mapped_authors }: Report): Html | undefined {
  if (!mapped_authors.length) return undefined
  const items = mapped_authors
    .slice(0, 50)
    .map(
      ({ remote_name, remote_id, name, email }) =>
        html`<li><span class="address">${remote_name || remote_id}</span> is <strong>${name}</strong> &lt;<span class="address">${email}</span>&gt;</li>`,
    )
  const more = mapped_authors.length - items.length
  return html`<h3>Authors by correction</h3><ul>${items}</ul>${more > 0 && html`<p class="muted">And ${amount(more)} more.</p>`}`
}
