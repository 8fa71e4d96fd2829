import { type Html, html } from '#web/html.ts'

/** The colours that people know from other code hosts. */
const colors: Record<string, string> = {
  ...{ Ada: '02f88c', Assembly: '6e4c13', Batchfile: 'c1f12e', C: '555555', 'C#': '178600', 'C++': 'f34b7d', Clojure: 'db5855' },
  ...{ CMake: 'da3434', CSS: '663399', Dart: '00b4ab', Dockerfile: '384d54', Elixir: '6e4a7e', Elm: '60b5cc', Erlang: 'b83998' },
  ...{ Fortran: '4d41b1', Go: '00add8', Groovy: '4298b8', Haskell: '5e5086', HCL: '844fba', HTML: 'e34c26', Java: 'b07219' },
  ...{
    JavaScript: 'f1e05a',
    Julia: 'a270ba',
    Kotlin: 'a97bff',
    Lua: '000080',
    Makefile: '427819',
    Nix: '7e7eff',
    OCaml: 'ef7a08',
  },
  ...{ Perl: '0298c3', PHP: '4f5d95', PowerShell: '012456', Python: '3572a5', R: '198ce7', Ruby: '701516', Rust: 'dea584' },
  ...{ Scala: 'c22d40', Scheme: '1e4aec', SCSS: 'c6538c', Shell: '89e051', Svelte: 'ff3e00', Swift: 'f05138', Tcl: 'e4cc98' },
  ...{ TeX: '3d6117', TypeScript: '3178c6', Vue: '41b883', Zig: 'ec915c' },
}

export const languageColor = (name: string) => `#${colors[name] ?? '8b949e'}`

/** The name of a language after its coloured dot. The colour is an attribute, because our content security policy forbids `style`. */
export function languageDot(name: string): Html {
  return html`<span class="language"><svg width="12" height="12" aria-hidden="true"><circle cx="6" cy="6" r="6" fill="${languageColor(name)}"/></svg> ${name}</span>`
}
