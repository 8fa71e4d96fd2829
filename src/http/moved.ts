/**
 * The path names a repository by a former name. `to` is the repository under its present name; `rest` is the present value of a parameter
 * with slashes, if that was renamed.
 */
export class Moved extends Error {
  readonly to: { id: number; owner: string; name: string; rest?: string }
  constructor(to: Moved['to']) {
    super('Moved Permanently')
    this.to = to
  }
}
