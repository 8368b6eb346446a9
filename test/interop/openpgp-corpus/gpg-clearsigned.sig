-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA256

A document.
With two line ends and a blank at the end 
-----BEGIN PGP SIGNATURE-----

iIoEARYIADIWIQTCVtrmwe93hofRsZqSDwJeEVFJogUCawFvjhQcc3Via2V5c0Bl
eGFtcGxlLm9yZwAKCRCSDwJeEVFJonC7AP9N70PtTbFiKpqmCJpQCC+7zooBS3T/
ludK/njnhPFluwEA10ALnSzCvWS/XWerYV2G2H0Fr5fp9UWWqgWub8mirAQ=
=AeR2
-----END PGP SIGNATURE-----
