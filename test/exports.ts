import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Forge } from './forge.ts'
import type { Guest } from './guest.ts'

export const path = '/settings/export'

/** Asks for an archive; returns the address of the download. */
export async function prepare(guest: Guest, fields: Record<string, string> = {}): Promise<string> {
  const { text } = await guest.fillAndFollow(path, fields)
  const [, link] = /href="(\/settings\/export\/archive[^"]*)" data-turbo="false"/.exec(text) ?? []
  assert.ok(link, text)
  return link
}

export const fetchAs = (forge: Forge, guest: Guest, link: string, init: RequestInit = {}) =>
  fetch(`${forge.web}${link}`, {
    ...init,
    headers: { cookie: [...guest.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
  })

/** The files of an archive, unpacked by tar itself. */
export class Archive implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'export-'))
  readonly names: string[]
  /** All bytes. */
  readonly text: string

  constructor(bytes: Buffer) {
    writeFileSync(join(this.folder, 'a.tar.gz'), bytes)
    execFileSync('tar', ['-xzf', 'a.tar.gz'], { cwd: this.folder })
    const listed = execFileSync('tar', ['-tzf', 'a.tar.gz'], { cwd: this.folder }).toString().trim().split('\n')
    this.names = listed.map((name) => name.replace('belfry-export/', ''))
    this.text = this.names.map((name) => this.read(name)).join('\n')
  }

  read(name: string) {
    return readFileSync(join(this.folder, 'belfry-export', name), 'latin1')
  }

  rows(name: string): Record<string, unknown>[] {
    return this.names.includes(name)
      ? this.read(name)
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : []
  }

  [Symbol.dispose]() {
    rmSync(this.folder, { recursive: true })
  }
}

export async function exportOf(forge: Forge, guest: Guest) {
  const answer = await fetchAs(forge, guest, await prepare(guest))
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-disposition') ?? '', /^attachment; filename=belfry-ada-[\d-]+\.tar\.gz$/)
  return new Archive(Buffer.from(await answer.arrayBuffer()))
}
