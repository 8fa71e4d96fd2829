export interface License {
  key: string
  name: string
  spdx_id: string
}

/** Phrases that a license has and those before it in this list do not. The first license with all of its phrases counts. */
const known: [spdx_id: string, name: string, phrases: string[]][] = [
  // These two name GNU licenses.
  ['MPL-2.0', 'Mozilla Public License 2.0', ['mozilla public license', 'version 2.0']],
  ['EPL-2.0', 'Eclipse Public License 2.0', ['eclipse public license', 'v 2.0']],
  ['AGPL-3.0', 'GNU Affero General Public License v3.0', ['gnu affero general public license', 'version 3']],
  ['LGPL-3.0', 'GNU Lesser General Public License v3.0', ['gnu lesser general public license', 'version 3']],
  ['LGPL-2.1', 'GNU Lesser General Public License v2.1', ['gnu lesser general public license', 'version 2.1']],
  ['GPL-3.0', 'GNU General Public License v3.0', ['gnu general public license', 'version 3']],
  ['GPL-2.0', 'GNU General Public License v2.0', ['gnu general public license', 'version 2']],
  ['Apache-2.0', 'Apache License 2.0', ['apache license', 'version 2.0']],
  ['CC0-1.0', 'Creative Commons Zero v1.0 Universal', ['cc0 1.0 universal']],
  ['Unlicense', 'The Unlicense', ['this is free and unencumbered software']],
  ['BSL-1.0', 'Boost Software License 1.0', ['boost software license']],
  ['ISC', 'ISC License', ['permission to use, copy, modify, and/or distribute this software for any']],
  [
    'MIT',
    'MIT License',
    ['permission is hereby granted, free of charge', 'the above copyright notice and this permission notice'],
  ],
  [
    'BSD-3-Clause',
    'BSD 3-Clause "New" or "Revised" License',
    ['redistribution and use in source and binary forms', 'endorse or promote products'],
  ],
  ['BSD-2-Clause', 'BSD 2-Clause "Simplified" License', ['redistribution and use in source and binary forms']],
]

const licenses: License[] = known.map(([spdx_id, name]) => ({ key: spdx_id.toLowerCase(), name, spdx_id }))
const other: License = { key: 'other', name: 'Other', spdx_id: 'NOASSERTION' }
/** Every title and phrase is near the beginning. */
const longest = 20_000

/** Which license a text is, by its phrases. */
export function detectLicense(text: string): License {
  const words = text.slice(0, longest).toLowerCase().replaceAll(/\s+/g, ' ')
  return licenses[known.findIndex(([, , phrases]) => phrases.every((phrase) => words.includes(phrase)))] ?? other
}

export function findLicense(key: string): License | undefined {
  return key === other.key ? other : licenses.find((license) => license.key === key)
}
