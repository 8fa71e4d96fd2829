import type { Repository } from '#hosting/repositories/repositories.ts'
import { mayPush } from '#hosting/repositories/views/repository-page.ts'
import { copyButton, copyLine } from '#web/components/copy.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import { codeAddress } from '../code-location.ts'
import { cloneAddress } from './clone-menu.ts'

/** How to fill a repository without commits, for those who may. `more` is about imports. */
export function emptyRepository(visit: Visit, repo: Repository, more: Html | undefined): Html {
  const address = cloneAddress(visit, repo)
  if (!visit.belfry.storage.has(repo.id)) {
    return emptyState('hourglass', 'The files are being copied', 'This takes a moment. Reload the page to see them.')
  }
  if (!mayPush(visit, repo)) {
    return emptyState('repo', 'This repository is empty', 'Its files will be here after the first push.')
  }
  const create = `echo "# ${repo.name}" >> README.md
git init
git add README.md
git commit -m "First commit"
git branch -M ${repo.default_branch}
git remote add origin ${address}
git push -u origin ${repo.default_branch}`
  const push = `git remote add origin ${address}
git branch -M ${repo.default_branch}
git push -u origin ${repo.default_branch}`
  return html`<section class="empty-repository" aria-labelledby="empty"><h2 id="empty">This repository is empty</h2>
<p>Clone it, or push to it. As the password, git takes a <a href="/settings/tokens">personal token</a>. You can also <a href="${codeAddress('new', { repo, ref: repo.default_branch })}?filename=README.md">create a README</a> here.</p>${copyLine(address, 'Address for git clone')}
<h3>Create a new repository on the command line</h3>${commands(create)}<h3>Push an existing repository</h3>${commands(push)}
${more && html`<h3>Import a repository</h3>${more}`}</section>`
}

const commands = (text: string) =>
  html`<div class="commands"><pre tabindex="0">${text}</pre>${copyButton(text, 'Copy the commands')}</div>`
