import type { ChangedFile } from '#git/changes.ts'
import type { Comparison } from '#git/compare.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'

/** Limits of one page. */
const mostCommits = 250
const mostFiles = 300
const longestPatches = 1 << 19

export function commitList({ commits, total_commits }: Pick<Comparison, 'commits' | 'total_commits'>, repository: string): Html {
  const rows = commits.slice(-mostCommits).map(({ sha, message, author }) => {
    const [title] = message.split('\n')
    return html`<li><a class="title" href="${repository}/commit/${sha}">${title || 'No message'}</a>
<p class="muted"><code>${sha.slice(0, 7)}</code> by ${author.name} ${moment(author.date)}</p></li>`
  })
  const more = total_commits - rows.length
  return html`${more > 0 && html`<p class="muted">${more} earlier commits are not shown.</p>`}<ol class="issues">${rows}</ol>`
}

/** Each file with its patch. */
export function fileList({ files, changed_files }: Pick<Comparison, 'files' | 'changed_files'>): Html {
  let room = longestPatches
  const shown = files.slice(0, mostFiles).map((file) => {
    room -= file.patch?.length ?? 0
    return showFile(file, room >= 0)
  })
  const more = changed_files - shown.length
  return html`${shown}${more > 0 && html`<p class="muted">${more} more files are not shown.</p>`}`
}

function showFile({ filename, previous_filename, status, additions, deletions, patch }: ChangedFile, fits: boolean): Html {
  const name = previous_filename ? `${previous_filename} → ${filename}` : filename
  const changes = html`<span class="added">+${additions}</span> <span class="removed">−${deletions}</span>`
  const text =
    patch === undefined
      ? html`<p class="muted">Binary, or too long to show.</p>`
      : fits
        ? html`<pre class="patch" tabindex="0">${patch.split('\n').map(showLine)}</pre>`
        : html`<p class="muted">Not shown, because this page is too long.</p>`
  return html`<details open><summary><code>${name}</code> <span class="muted">${status}</span> ${changes}</summary>${text}</details>`
}

const kinds: Record<string, string> = { '+': 'added', '-': 'removed', '@': 'muted' }

function showLine(line: string): Html {
  const kind = kinds[line.charAt(0)]
  return kind ? html`<span class="${kind}">${line}</span>\n` : html`${line}\n`
}
