import { encodePath } from '#hosting/refs/json.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { copyLine } from '#web/components/copy.ts'
import { icon } from '#web/components/icon.ts'
import { menu } from '#web/components/menu.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import type { CodeLocation } from '../code-location.ts'

export const cloneAddress = ({ belfry }: Visit, repo: CodeLocation['repo']) => `${belfry.addresses.web}${pathOf(repo)}.git`

/** How to get the code: a clone, or an archive of this branch, tag or commit. */
export function cloneMenu(visit: Visit, { repo, ref }: CodeLocation): Html {
  const archive = `${pathOf(repo)}/archive/${encodePath(ref)}`
  const address = cloneAddress(visit, repo)
  return menu(
    html`<span class="button primary">${icon('code')}<span>Code</span>${icon('triangle-down')}</span>`,
    [
      {
        markup: html`<div class="clone"><strong>Clone with HTTPS</strong>${copyLine(address, 'Address for git clone')}<p class="muted">Use git with this address. Its password is a personal token, or that of an account without a second factor.</p></div>`,
      },
      'divider',
      { text: 'Download ZIP', href: `${archive}.zip`, icon: 'file-zip' },
      { text: 'Download tar.gz', href: `${archive}.tar.gz`, icon: 'file-zip' },
    ],
    { kind: 'clone-menu' },
  )
}
