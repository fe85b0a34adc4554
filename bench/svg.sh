# For scripts that draw: shrink_svg FILE ..: gnuplot's pictures without blanks, empty groups and hundredths of a pixel.
shrink_svg() {
    sed -i -z -E -e 's/[\t ]*\n[\t \n]*/\n/g' -e 's/<g [^>]*>\n<\/g>\n//g' -e 's/<g [^>]*>\n<\/g>\n//g' \
        -e 's/([0-9]\.[0-9])[0-9]+([,) ])/\1\2/g' -e 's/([0-9])\.0([,) ])/\1\2/g' "$@"
}
