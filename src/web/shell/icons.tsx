/** The few drawings of the shell, in the colour of the text around them. */
import type { Theme } from '../state/theme.ts'

const line = {
  viewBox: '0 0 24 24',
  fill: 'none',
  stroke: 'currentColor',
  'stroke-width': '2',
  'stroke-linecap': 'round',
  'stroke-linejoin': 'round',
  'aria-hidden': 'true',
} as const

export const BrandIcon = () => (
  <svg {...line}>
    <path d="M4 4v16M20 4v16M4 12h3l2-5 4 10 3-7 1 2h3" />
  </svg>
)

export const KeyboardIcon = () => (
  <svg {...line}>
    <rect x="2" y="6" width="20" height="12" rx="2" />
    <path d="M6 10h0M10 10h0M14 10h0M18 10h0M8 14h8" />
  </svg>
)

export const ThemeIcon = ({ theme }: { readonly theme: Theme }) => (
  <svg {...line}>
    {theme === 'light' ? (
      <>
        <circle cx="12" cy="12" r="4" />
        <path d="M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2" />
      </>
    ) : theme === 'dark' ? (
      <path d="M20 14A8 8 0 1 1 10 4a7 7 0 0 0 10 10z" />
    ) : (
      <>
        <circle cx="12" cy="12" r="9" />
        <path d="M12 3a9 9 0 0 1 0 18z" fill="currentColor" />
      </>
    )}
  </svg>
)
