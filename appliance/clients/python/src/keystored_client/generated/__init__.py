"""Made by `npm run clients`; do not edit."""
