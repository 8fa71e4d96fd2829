import {
  type Asset,
  addAsset,
  assetName,
  checkNameFree,
  checkRoom,
  deleteAsset,
  loadAsset,
  mostAssetBytes,
  updateAsset,
} from '#hosting/releases/assets/assets.ts'
import type { Release } from '#hosting/releases/releases.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { numberIn } from '#hosting/repositories/views/repository-page.ts'
import { invalid, Refusal } from '#platform/errors.ts'
import { typed } from '#web/fields.ts'
import type { SignedIn } from '#web/page.ts'

type NewFile = Pick<Asset, 'name' | 'label' | 'content_type' | 'oid' | 'size'>

/** The files of a form, stored and not yet in a release; those that no release gets are swept. */
export interface Received {
  files: NewFile[]
  /** Why one of them was refused; the fields of the form are read nevertheless. */
  refusal: Refusal | undefined
}

/** Stores files while they arrive. `release` is undefined for one that does not exist yet. */
export async function receiveFiles({ db, belfry, upload }: SignedIn, release: Release | undefined): Promise<Received> {
  const received: Received = { files: [], refusal: undefined }
  for await (const file of upload?.files() ?? []) {
    if (received.refusal) continue
    try {
      const name = nameOf(file.name)
      if (received.files.some((other) => other.name === name)) throw taken(name)
      if (release) {
        await checkNameFree(db, release, name).catch(() => Promise.reject(taken(name)))
        await checkRoom(db, release)
      }
      const stored = await belfry.files.storeContents(file.content, mostAssetBytes)
      const content_type = file.type.slice(0, 255) || 'application/octet-stream'
      received.files.push({ name, label: null, content_type, ...stored })
    } catch (error) {
      if (!(error instanceof Refusal) || error.reason === 'malformed') throw error
      received.refusal = error.reason === 'too_large' ? fault(`${file.name} is larger than 2 GiB.`) : error
    }
  }
  return received
}

export async function addFiles({ db, belfry, visitor }: SignedIn, release: Release, files: NewFile[]) {
  if (!files.length) return
  await db.transaction(async (transaction) => {
    for (const file of files) await addAsset(transaction, belfry.files, release, visitor, file)
  })
}

/** Renames or deletes a file; returns a sentence about it. */
export async function changeFile({ db, params, form }: SignedIn, repo: Repository, release: Release): Promise<string> {
  const asset = await loadAsset(db, repo, numberIn(params.asset), true)
  if (asset.release_id !== release.id) throw new Refusal('missing', 'Not Found')
  return db.transaction(async (transaction) => {
    if (form.get('act') === 'delete') {
      await deleteAsset(transaction, asset)
      return `${asset.name} is deleted.`
    }
    const name = nameOf(typed(form, 'file_name'))
    const label = typed(form, 'file_label')
    if (label.length > 255) throw fault('A label has at most 255 characters.')
    await updateAsset(transaction, asset, { name, label: label || null }).catch((error) => {
      throw error instanceof Refusal ? taken(name) : error
    })
    return `${name} is saved.`
  })
}

function nameOf(given: string) {
  try {
    return assetName(given)
  } catch {
    throw fault('A file needs a name of at most 255 letters, digits, and characters of . _ - + @.')
  }
}

const fault = (message: string) => invalid({ resource: 'ReleaseAsset', code: 'custom', field: 'name', message })
const taken = (name: string) => fault(`The release already has a file ${name}. Rename or delete that one first.`)
