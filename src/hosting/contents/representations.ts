import { openBlob } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { Represented } from '#http/media.ts'
import { Refusal } from '#platform/errors.ts'
import { html } from '#web/html.ts'
import { renderMarkdown } from '#web/markdown/render.ts'
import type { Content } from './contents.ts'

/** A file as its bytes or as a page. Folders and submodules have JSON only. */
export async function representContent(
  storage: Storage,
  repo: Repository,
  content: Content & { kind: 'file' | 'symlink' },
  medium: 'raw' | 'html',
): Promise<Represented> {
  const { entry } = content
  const bytes = content.kind === 'symlink' ? Buffer.from(content.target) : content.bytes
  if (medium === 'raw') return new Represented(medium, bytes ?? (await openBlob(storage, repo.id, entry.sha)))
  if (!bytes) throw new Refusal('forbidden', 'This file is too large to be rendered. Request its bytes instead.')
  return new Represented(medium, await renderFile(entry.path, bytes.toString()))
}

const isMarkdown = /\.(md|markdown|mdown|mkdn?)$/i

async function renderFile(path: string, text: string): Promise<string> {
  const markdown = isMarkdown.test(path)
  const body = markdown
    ? html`<article class="markdown-body" itemprop="text">${await renderMarkdown(text)}</article>`
    : html`<pre>${text}</pre>`
  return html`<div id="file" class="${markdown ? 'md' : 'plain'}" data-path="${path}">${body}</div>`.text
}
