import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { missing } from '#platform/errors.ts'

/** The terms of a license in words that clients show as a list. */
interface Terms {
  permissions: string[]
  conditions: string[]
  limitations: string[]
}

export interface LicenseTemplate extends Terms {
  key: string
  spdx_id: string
  name: string
  description: string
  /** Whether a list shows it first. */
  featured: boolean
}

const uses = ['commercial-use', 'modifications', 'distribution', 'private-use']
const disclaimers = ['liability', 'warranty']
const permissive: Terms = { permissions: uses, conditions: ['include-copyright'], limitations: disclaimers }
const copyleft: Terms = {
  permissions: uses,
  conditions: ['include-copyright', 'document-changes', 'disclose-source', 'same-license'],
  limitations: disclaimers,
}
const public_domain: Terms = { permissions: uses, conditions: [], limitations: disclaimers }

const license = (spdx_id: string, name: string, description: string, terms: Terms, featured = false): LicenseTemplate => ({
  key: spdx_id.toLowerCase(),
  spdx_id,
  name,
  description,
  featured,
  ...terms,
})

/** The most used licenses, by name. Their texts are in the folder `licenses`. */
export const licenses: LicenseTemplate[] = [
  license(
    'Apache-2.0',
    'Apache License 2.0',
    'Permissive. Contributors grant patent rights, and changed files must say so.',
    {
      permissions: [...uses, 'patent-use'],
      conditions: ['include-copyright', 'document-changes'],
      limitations: [...disclaimers, 'trademark-use'],
    },
    true,
  ),
  license('BSD-2-Clause', 'BSD 2-Clause "Simplified" License', 'Permissive. Copies keep the copyright notice.', permissive),
  license(
    'BSD-3-Clause',
    'BSD 3-Clause "New" or "Revised" License',
    'Permissive. Copies keep the copyright notice, and the names of the authors advertise nothing.',
    permissive,
  ),
  license('CC0-1.0', 'Creative Commons Zero v1.0 Universal', 'Gives up all rights, as far as the law allows.', {
    ...public_domain,
    limitations: [...disclaimers, 'patent-use', 'trademark-use'],
  }),
  license(
    'GPL-2.0',
    'GNU General Public License v2.0',
    'Copyleft. Who distributes it also distributes the source code.',
    copyleft,
  ),
  license(
    'GPL-3.0',
    'GNU General Public License v3.0',
    'Copyleft, with patent rights. Who distributes it also distributes the source code.',
    { ...copyleft, permissions: [...uses, 'patent-use'] },
    true,
  ),
  license('ISC', 'ISC License', 'Permissive and short. Copies keep the copyright notice.', permissive),
  license(
    'LGPL-2.1',
    'GNU Lesser General Public License v2.1',
    'Copyleft for a library. Programs that only link to it may have another license.',
    copyleft,
  ),
  license('MIT', 'MIT License', 'Permissive and short. Copies keep the copyright notice.', permissive, true),
  license('MPL-2.0', 'Mozilla Public License 2.0', 'Copyleft for each file. Other files of a program may have another license.', {
    permissions: [...uses, 'patent-use'],
    conditions: ['disclose-source', 'include-copyright', 'same-license--file'],
    limitations: [...disclaimers, 'trademark-use'],
  }),
  license('Unlicense', 'The Unlicense', 'Gives up all rights. There are no conditions.', public_domain),
]

export async function readLicenseTemplate(key: string): Promise<LicenseTemplate & { body: string }> {
  const found = licenses.find((each) => each.key === key.toLowerCase())
  if (!found) throw missing()
  return { ...found, body: await readFile(join(import.meta.dirname, 'licenses', `${found.key}.txt`), 'utf8') }
}
