import { createHash } from 'node:crypto'
import { closeSync, createReadStream, mkdirSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { FastImport } from '#importer/staging/fast-import.ts'
import type { View } from './svndiff.ts'

/** The content of a file, in memory or on disk. */
export type Text = { size: number; bytes: Buffer } | { size: number; file: string }

/** In bytes. */
export const maxInMemory = 16 << 20
/** In bytes: the size of the cache in memory and on disk. Cached texts need not be read from git. */
const memoryLimit = 32 << 20
const diskLimit = 1 << 30

export function openTextCache(folder: string) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const kept = { memory: new Map<string, Text>(), files: new Map<string, Text>() }
  const used = { memory: 0, files: 0 }
  let number = 0

  async function gather(chunks: AsyncIterable<Buffer>): Promise<Text & { md5: string }> {
    const hash = createHash('md5')
    const parts: Buffer[] = []
    let size = 0
    let file: string | undefined
    let descriptor: number | undefined
    try {
      for await (const chunk of chunks) {
        hash.update(chunk)
        size += chunk.length
        parts.push(chunk)
        if (size <= maxInMemory) continue
        file ??= join(folder, `${++number}.new`)
        descriptor ??= openSync(file, 'wx', 0o600)
        for (const part of parts.splice(0)) writeAll(descriptor, part)
      }
    } finally {
      if (descriptor !== undefined) closeSync(descriptor)
    }
    const md5 = hash.digest('hex')
    return file === undefined ? { size, md5, bytes: Buffer.concat(parts) } : { size, md5, file }
  }

  async function read(id: string, git: FastImport): Promise<Text> {
    const known = kept.memory.get(id) ?? kept.files.get(id)
    if (!known) {
      const { md5, ...text } = await gather(git.catBlob(id))
      keep(id, text)
      return kept.files.get(id) ?? text
    }
    // Least recently used entries are dropped first.
    const cache = 'file' in known ? kept.files : kept.memory
    cache.delete(id)
    cache.set(id, known)
    return known
  }

  /** Moves a text that is on disk into the cache. */
  function keep(id: string, text: Text) {
    const where = 'file' in text ? 'files' : 'memory'
    const most = where === 'files' ? diskLimit : memoryLimit
    if (kept[where].has(id)) {
      if ('file' in text) rmSync(text.file, { force: true })
      return
    }
    if ('file' in text) {
      const file = join(folder, id)
      renameSync(text.file, file)
      kept.files.set(id, { size: text.size, file })
    } else if (text.size <= memoryLimit / 8) kept.memory.set(id, text)
    else return
    used[where] += text.size
    for (const [oldest, { size, ...old }] of kept[where]) {
      if (used[where] <= most || oldest === id) break
      kept[where].delete(oldest)
      used[where] -= size
      if ('file' in old) rmSync(old.file, { force: true })
    }
  }

  return { gather, read, keep }
}

/** Texts by the id of their blob. */
export type TextCache = ReturnType<typeof openTextCache>

function writeAll(descriptor: number, bytes: Buffer) {
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done)
}

/** Reads ranges of a text. Call `close` at the end. */
export function viewOf(text: Text): { view: View; close(): void } {
  if ('bytes' in text) return { view: (from, length) => text.bytes.subarray(from, from + length), close() {} }
  const descriptor = openSync(text.file, 'r')
  const buffer = Buffer.allocUnsafe(128 * 1024)
  return {
    view(from, length) {
      let done = 0
      for (let got = 1; done < length && got > 0; done += got)
        got = readSync(descriptor, buffer, done, length - done, from + done)
      return buffer.subarray(0, done)
    },
    close: () => closeSync(descriptor),
  }
}

/** The content in chunks; `id` is the blob id after all were read. */
export function streamBlob(text: Text & { file: string }): { chunks: AsyncIterable<Buffer>; id(): string } {
  const hash = createHash('sha1').update(`blob ${text.size}\0`)
  async function* chunks() {
    for await (const chunk of createReadStream(text.file, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
      hash.update(chunk)
      yield chunk
    }
  }
  return { chunks: chunks(), id: () => hash.digest('hex') }
}
